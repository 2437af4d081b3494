import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** Each event of each webhook once. */
const taken = new Set<string>();
let awaited = Number.POSITIVE_INFINITY;

const server = createServer((request, response) => {
  request.resume().once("end", () => {
    response.writeHead(204).end();
    taken.add(`${request.url} ${request.headers["webhook-id"]}`);
    tell();
  });
});
server.listen(0, "0.0.0.0", () => process.send?.({ port: (server.address() as AddressInfo).port }));

process.on("message", (deliveries) => {
  awaited = Number(deliveries);
  tell();
});
process.on("disconnect", () => process.exit(0));

function tell(): void {
  if (taken.size < awaited) return;
  awaited = Number.POSITIVE_INFINITY;
  process.send?.({ taken: taken.size });
}
