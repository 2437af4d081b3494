import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";
import type { Revision } from "./mcp-connection.ts";

const run = promisify(execFile);

/** The protocol's own suite, of which a server passes what it has: ours has tools that answer text, and nothing else. */
const scenarios: Record<Revision, readonly string[]> = {
  "2025-11-25": ["server-initialize", "ping", "tools-list", "dns-rebinding-protection"],
  "2026-07-28": [
    ...["server-stateless", "tools-list", "caching", "http-header-validation"],
    ...["input-required-result-unsupported-methods", "dns-rebinding-protection"],
  ],
};

/** What fails for being absent: prompts, resources, subscriptions, and the tools that the suite brings for its own server. */
const absent: ReadonlySet<string> = new Set([
  "sep-2549-prompts-list-caching-hints",
  "sep-2549-resources-list-caching-hints",
  "sep-2549-resources-templates-list-caching-hints",
  "sep-2575-server-rejects-undeclared-capability",
  "sep-2575-missing-capability-http-400",
  "sep-2575-http-server-no-independent-requests-on-stream",
  "sep-2575-server-no-log-without-loglevel",
  "sep-2575-server-sends-subscription-ack",
  "sep-2575-server-tags-subscription-id",
]);

const Checks = z.array(
  z.looseObject({ id: z.string(), status: z.string(), errorMessage: z.string().optional() }),
);

/** Requirements that a server does not meet, of what it has. Throws if the suite says nothing. */
export async function conformanceOf(url: string, revision: Revision): Promise<string[]> {
  const suite = createRequire(import.meta.url).resolve(
    "@modelcontextprotocol/conformance/package.json",
  );
  const program = join(dirname(suite), "dist/index.js");
  const directory = await mkdtemp(join(tmpdir(), "mcp-conformance-"));
  const failed: string[] = [];
  for (const scenario of scenarios[revision]) {
    const output = join(directory, scenario);
    const asked = ["--url", url, "--spec-version", revision, "--scenario", scenario, "-o", output];
    // It ends with 1 for what is absent, too: its checks are read.
    await run(process.execPath, [program, "server", ...asked]).catch(() => undefined);
    const files = await readdir(output, { recursive: true });
    const file = files.find((name) => name.endsWith("checks.json"));
    if (file === undefined) throw new Error(`${scenario} wrote no checks`);
    const checks = Checks.parse(JSON.parse(await readFile(join(output, file), "utf8")));
    const unmet = checks.filter(({ id, status }) => status === "FAILURE" && !absent.has(id));
    failed.push(...unmet.map(({ id, errorMessage }) => `${scenario} ${id}: ${errorMessage}`));
  }
  await rm(directory, { recursive: true, force: true });
  return failed;
}
