"""Options become the arguments that the program accepts."""

import datetime
import decimal
import json
import os
import random
import string
import unittest
from pathlib import Path

import brunt
from brunt._options import arguments, header_lines

from .support import BruntTestCase, closed_port

CASES = 60


class Arguments(unittest.TestCase):
    def test_values_have_one_form_each(self):
        options = {
            "timeout": "5s",
            "max_in_flight": 7,
            "rate": 0.1,
            "until": "p99±5%",
            "insecure": True,
            "precise": False,
            "proxy": None,
            "objective": ["p99 < 50ms", "errors < 1%"],
            "set": {"load.rate": 500, "strict": True},
            "cacert": Path("/tmp/ca.pem"),
            "think": datetime.timedelta(milliseconds=1500),
            "connect-timeout": datetime.timedelta(seconds=2),
            "scale": decimal.Decimal("1E+3"),
        }
        self.assertEqual(
            arguments(options),
            [
                "--timeout=5s",
                "--max-in-flight=7",
                "--rate=0.1",
                "--until=p99±5%",
                "--insecure",
                "--objective=p99 < 50ms",
                "--objective=errors < 1%",
                "--set=load.rate=500",
                "--set=strict=true",
                "--cacert=/tmp/ca.pem",
                "--think=1.5s",
                "--connect-timeout=2s",
                "--scale=1000",
            ],
        )

    def test_numbers_have_no_exponent(self):
        for value, text in [
            (1e-7, "0.0000001"),
            (1e22, "1" + "0" * 22),
            (200.0, "200"),
            (-0.5, "-0.5"),
        ]:
            self.assertEqual(arguments({"rate": value}), [f"--rate={text}"])

    def test_arguments_stay_as_they_are(self):
        self.assertEqual(arguments(["--timeout", "5s", "-k"]), ["--timeout", "5s", "-k"])
        self.assertEqual(arguments(()), [])

    def test_numbers_of_other_libraries_convert_themselves(self):
        class Number:
            def item(self):
                return 2.5

        self.assertEqual(arguments({"rate": Number()}), ["--rate=2.5"])

    def test_wrong_values_are_refused(self):
        for options, error in [
            ("--timeout=5s", TypeError),
            ({"timeout": object()}, TypeError),
            ({"timeout": [["5s"]]}, TypeError),
            ({"rate": float("nan")}, ValueError),
            ({"rate": float("inf")}, ValueError),
            ({"rate": "1\0"}, ValueError),
            ({"c": 5}, ValueError),
            ({"-rate": 5}, ValueError),
            ({"rate=5 --insecure": True}, ValueError),
            ({"": 5}, ValueError),
            ({5: 5}, ValueError),
            ({"header": {"A": "b"}}, ValueError),
            ([5.5, object()], TypeError),
        ]:
            with self.subTest(options=options), self.assertRaises(error):
                arguments(options)

    def test_headers_cannot_contain_other_headers(self):
        self.assertEqual(header_lines({"A": "b", "C": ["d", "e"]}), "A: b\nC: d\nC: e\n")
        self.assertIsNone(header_lines({}))
        for headers in [
            {"A": "b\nC: d"},
            {"A\nB": "c"},
            {"A:": "b"},
            {"": "b"},
            {"A": 5},
            {"A": "\0"},
        ]:
            with self.subTest(headers=headers):
                with self.assertRaises(ValueError) as raised:
                    header_lines(headers)
                self.assertNotIn("C: d", str(raised.exception))


def random_text(chance):
    """Returns a text without placeholders and without a file name, which begins with @."""
    alphabet = string.ascii_letters + string.digits + " -=_.,;:!?'\"#%&()*+/<>[]^|~éß中"
    text = "".join(chance.choice(alphabet) for _ in range(chance.randint(1, 30))).strip()
    return text or "-"


def random_seconds(chance):
    """Returns a time as an option and in seconds."""
    milliseconds = chance.randint(1, 5000)
    seconds = milliseconds / 1000
    return chance.choice(
        [
            (f"{milliseconds}ms", seconds),
            (datetime.timedelta(milliseconds=milliseconds), seconds),
            (seconds, seconds),
        ]
    )


def random_options(chance):
    """Returns options, and the values that the resolved plan must have, by their path."""
    options = {}
    expected = {}
    stop, connection = "populations.0.stop", "connection"
    request, policy = "populations.0.scenario.requests.0", "reply_policies.0"

    def maybe(name, value, path, planned=None):
        if chance.random() < 0.35:
            key = name if chance.random() < 0.5 else name.replace("_", "-")
            options[key] = value
            expected[path] = value if planned is None else planned

    time = random_seconds(chance)
    maybe("duration", time[0], f"{stop}.duration_seconds", time[1])
    time = random_seconds(chance)
    maybe("timeout", time[0], f"{connection}.timeout_seconds", time[1])
    time = random_seconds(chance)
    maybe("connect_timeout", time[0], f"{connection}.connect_timeout_seconds", time[1])
    time = random_seconds(chance)
    maybe("grace", time[0], f"{stop}.grace_seconds", time[1])
    time = random_seconds(chance)
    maybe("warmup", time[0], f"{stop}.warmup_seconds", time[1])
    maybe("requests", chance.randint(1, 10**6), f"{stop}.requests")
    maybe("method", chance.choice(["GET", "PUT", "DELETE", "OPTIONS"]), f"{request}.method")
    maybe(
        "requests_per_connection", chance.randint(2, 1000), f"{connection}.requests_per_connection"
    )
    maybe("connect_rate", chance.randint(1, 9999), f"{connection}.connect_rate")
    maybe("retry_stale", True, f"{connection}.retry_stale")
    maybe("insecure", True, f"{connection}.tls.insecure")
    maybe("no_tls_resumption", True, f"{connection}.tls.no_resumption")
    maybe("sni", "other.example", f"{connection}.tls.sni")
    maybe("seed", chance.randint(0, 2**63), "seed")
    maybe("labels", chance.randint(1, 5000), "record.labels")
    maybe("follow", chance.randint(1, 20), f"{policy}.redirects.most")
    maybe("expect_same_length", True, f"{policy}.checks.same_length")
    maybe("interval", "50ms", "record.interval_seconds", 0.05)
    bounds = chance.sample(["p99 < 50ms", "errors < 1%", "p50 < 2s", "throughput > 10/s"], 2)
    maybe("objective", bounds, "objectives.#", len(bounds))
    agent = random_text(chance)
    if agent.isascii():
        maybe("user_agent", agent, f"{request}.headers.User-Agent", agent)
    value = random_text(chance).replace('"', "")
    if value.isascii():
        maybe("header", [f"X-Test: {value}"], f"{request}.headers.X-Test", value)
    rate = round(chance.uniform(0.5, 900), chance.randint(0, 3))
    if chance.random() < 0.5:
        options["rate"] = rate
        expected["populations.0.load.rate.stages.0.to"] = rate
        maybe("arrivals", chance.choice(["poisson", "even"]), "populations.0.load.arrivals")
        maybe("max_in_flight", chance.randint(1, 9999), "populations.0.load.max_in_flight")
    else:
        maybe("connections", chance.randint(1, 50), "populations.0.load.users.stages.0.to")
    # These have no influence.
    options.update(precise=False, proxy=None, expect_body=None)
    return options, expected


def value_at(plan, path):
    value = plan
    for key in path.split("."):
        if key == "#":
            value = len(value)
        elif isinstance(value, list) and value and isinstance(value[0], list):
            value = dict(value)[key]
        elif isinstance(value, list):
            value = value[int(key)]
        else:
            value = value[key]
    return value


class RandomOptions(BruntTestCase):
    """The plan of brunt has the values of the options.

    The server refuses connections, so brunt resolves the plan, and ends without a load.
    """

    def test_the_plan_has_the_values_of_the_options(self):
        url = f"http://127.0.0.1:{closed_port()}/"
        for seed in range(CASES):
            chance = random.Random(seed)
            options, expected = random_options(chance)
            with self.subTest(seed=seed, options=options):
                with self.assertRaises(brunt.BruntError) as raised:
                    brunt.run(url, options=options)
                self.assertEqual(raised.exception.exit_code, 3, raised.exception)
                plan = raised.exception.result.plan.to_dict()
                for path, value in expected.items():
                    planned = value_at(plan, path)
                    if isinstance(value, float):
                        # brunt adds seconds and nanoseconds as floating-point numbers.
                        self.assertAlmostEqual(planned, value, 9, f"{path} of {options}")
                    else:
                        self.assertEqual(planned, value, f"{path} of {options}")

    def test_texts_that_look_like_options_are_values(self):
        url = f"http://127.0.0.1:{closed_port()}/"
        for text in ["--insecure", "-k", "--", "-", "a=b", "'; touch x #", "$(touch x)", "*"]:
            with self.subTest(text=text), self.assertRaises(brunt.BruntError) as raised:
                brunt.run(url, options={"user_agent": text})
            self.assertEqual(raised.exception.exit_code, 3)
            plan = raised.exception.result.plan.to_dict()
            request = plan["populations"][0]["scenario"]["requests"][0]
            self.assertEqual(dict(request["headers"])["User-Agent"], text)
            self.assertFalse(plan["connection"]["tls"]["insecure"])

    def test_unknown_options_are_named(self):
        for name in ["timeuot", "qqq", "rate_limit"]:
            with self.subTest(name=name), self.assertRaises(brunt.BruntError) as raised:
                brunt.run("http://127.0.0.1:9/", options={name: 1})
            self.assertEqual(raised.exception.exit_code, 2)
            self.assertIn(name.replace("_", "-"), str(raised.exception))

    def test_a_target_is_never_an_option(self):
        stub = self.directory / "stub"
        stub.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" > {self.directory}/arguments\n")
        stub.chmod(0o700)
        self.set_variable("BRUNT_BIN", str(stub))
        for target in ["--insecure", "-k", "--", "--store=/tmp/x"]:
            with self.subTest(target=target), self.assertRaises(brunt.BruntError):
                brunt.run(target)
            line = (self.directory / "arguments").read_text().splitlines()
            self.assertEqual(line[-2:], ["--", target])
        for target in ["", "a\0b"]:
            with self.subTest(target=target), self.assertRaises(ValueError):
                brunt.run(target)


class RandomPlans(BruntTestCase):
    def test_plans_as_dictionaries_are_checked(self):
        for seed in range(12):
            chance = random.Random(seed)
            loads, repetitions = chance.randint(1, 9), chance.randint(1, 5)
            plan = {
                "name": random_text(chance).encode("ascii", "ignore").decode().strip() or "x",
                "vars": {"port": 8080},
                "script": {"request": "http://127.0.0.1:${port}/", "headers": {"X-A": "1"}},
                "load": {"rate": f"10..{10 * loads}+10" if loads > 1 else 10, "duration": "1s"},
                "repetitions": 9,
            }
            del plan["script"]["headers"]
            with self.subTest(seed=seed, plan=json.dumps(plan)):
                summary = brunt.check_plan(plan, set={"repetitions": repetitions, "port": 9})
                self.assertIn(f"= {loads * repetitions} trial", summary)

    def test_errors_have_a_place(self):
        plan = {"script": {"request": "http://127.0.0.1/"}, "load": {"raet": 5}}
        with self.assertRaises(brunt.BruntError) as raised:
            brunt.check_plan(plan)
        self.assertEqual(raised.exception.exit_code, 2)
        self.assertEqual(str(raised.exception), "plan.yaml:6:3: load.raet: unknown key; write rate")
        with self.assertRaises(brunt.BruntError) as raised:
            brunt.run(plan)
        self.assertEqual(str(raised.exception), "plan.yaml:6:3: load.raet: unknown key; write rate")

    def test_values_without_json_are_refused(self):
        with self.assertRaises(TypeError):
            brunt.check_plan({"load": object()})
        self.assertFalse([name for name in os.listdir(self.directory) if name != "store"])


if __name__ == "__main__":
    unittest.main()
