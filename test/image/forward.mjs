import { connect, createServer } from "node:net";

// The local chains listen on loopback: `from:to` lets containers reach a port of it.
for (const pair of process.argv.slice(2)) {
  const [from, to] = pair.split(":").map(Number);
  createServer((incoming) => {
    const outgoing = connect(to, "127.0.0.1");
    incoming.pipe(outgoing).pipe(incoming);
    incoming.on("error", () => outgoing.destroy());
    outgoing.on("error", () => incoming.destroy());
  }).listen(from, "0.0.0.0");
}
