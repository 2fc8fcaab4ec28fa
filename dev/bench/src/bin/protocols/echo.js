// k6: 50 connections, each sends a message, awaits its echo, and sends the next one.
import { WebSocket } from 'k6/websockets';

const length = Number(__ENV.BRUNT_BENCH_SECONDS) * 1000;
export const options = { vus: 50, iterations: 50 };

export default function () {
  const end = Date.now() + length;
  const socket = new WebSocket(`ws://${__ENV.BRUNT_BENCH_ADDRESS}/`);
  socket.onopen = () => socket.send('hello');
  socket.onmessage = () => (Date.now() < end ? socket.send('hello') : socket.close());
}
