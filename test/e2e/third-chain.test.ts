import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");
const copied = [
  ...[
    "abis",
    "api",
    "chains",
    "devnet",
    "docs",
    "jobs",
    "ops",
    "projections",
    "sdk",
    "src",
    "test",
    "package.json",
  ],
  ...["ponder.config.ts", "ponder.schema.ts", "tsconfig.json", "vitest.config.ts"],
];
let project: string;

/** The project with a third chain: one file, and its line in the list. */
beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), "third-chain-"));
  for (const one of copied)
    await cp(join(root, one), join(project, one), { recursive: true, verbatimSymlinks: true });
  await mkdir(join(project, "node_modules"));
  for (const one of await readdir(join(root, "node_modules")))
    if (one !== ".cache")
      await symlink(join(root, "node_modules", one), join(project, "node_modules", one));
  const chain = await readFile(join(root, "test/e2e/third-chain/sepolia.ts"), "utf8");
  const moved = chain.replaceAll("#chains/", "./").replaceAll("#abis/", "../abis/");
  await writeFile(join(project, "chains/sepolia.ts"), moved);
  const list = join(project, "chains/index.ts");
  const before = await readFile(list, "utf8");
  const after = before.replace("[ethereum, apechain]", "[ethereum, apechain, sepolia]");
  expect(after).not.toBe(before);
  await writeFile(list, `import { sepolia } from "./sepolia.ts";\n${after}`);
  const trades = join(project, "test/e2e/third-chain");
  await cp(join(trades, "trades.ts"), join(trades, "trades.test.ts"));
});
afterAll(() => rm(project, { recursive: true, force: true }));

it("trades from signature to sale and page", async () => {
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const file = "test/e2e/third-chain/trades.test.ts";
  const { stdout } = await run(
    process.execPath,
    [vitest, "run", "--project", "integration", "--no-color", file],
    { cwd: project, env: { PATH: process.env.PATH, HOME: process.env.HOME }, maxBuffer: 2 ** 26 },
  ).catch((error: { stdout: string }) => error);
  expect(stdout).toMatch(/Tests +3 passed \(3\)/);
});
