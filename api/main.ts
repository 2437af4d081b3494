import process from "node:process";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`Node ${process.versions.node} is too old: 20.19 or later is needed\n`);
  process.exit(1);
}
if (major === 20 && process.send === undefined) {
  process.stderr.write("Node 20 gets no security fixes any more; Node 24 is recommended\n");
}

// After the check: an old Node cannot load this module.
const { run } = await import("./run/supervisor/command-line.ts");
process.exit(await run(process.argv.slice(2)));
