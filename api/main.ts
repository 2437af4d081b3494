import process from "node:process";
import { run } from "./run/supervisor/command-line.ts";

if (process.versions.node.startsWith("20.") && process.send === undefined) {
  process.stderr.write("Node 20 gets no security fixes any more; Node 24 is recommended\n");
}
process.exit(await run(process.argv.slice(2)));
