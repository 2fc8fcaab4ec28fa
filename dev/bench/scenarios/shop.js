// The same plan as shop.yaml, for k6.
import http from "k6/http";
import { check } from "k6";
import { SharedArray } from "k6/data";
import exec from "k6/execution";

const users = new SharedArray("users", () =>
  open("./users.csv").trim().split("\n").slice(1).map((line) => line.split(",")));
const base = "http://ADDRESS";

export const options = { vus: 64, duration: "SECONDSs" };

export default function () {
  const [name, password] = users[exec.scenario.iterationInTest % users.length];
  http.get(`${base}/10b`);
  const token = http.post(`${base}/login`, { name, password }).json("user.token");
  const order = http.post(`${base}/order`, JSON.stringify({ token, item: 9 }), {
    headers: { "Content-Type": "application/json" },
  });
  check(order, { welcome: (reply) => reply.body.includes("Welcome") });
}
