import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { findFreePort } from "#ops/free-port.ts";
import { until } from "#test/support/database/pipeline.ts";
import { packageFolder } from "#test/support/processes/package-folder.ts";
import type { DrawnRequest } from "./plausible-requests.ts";

const program = join(packageFolder("prism"), "node_modules/@stoplight/prism-cli/dist/index.js");
const Violations = z.array(z.object({ location: z.array(z.string()), message: z.string() }));

type ProxiedAnswer = {
  readonly status: number;
  /** What the document says against the request, and against its answer, each as `place: message`. */
  readonly request: readonly string[];
  readonly answer: readonly string[];
};

export type PrismProxy = {
  ask(request: DrawnRequest, headers: Record<string, string>): Promise<ProxiedAnswer>;
  close(): Promise<void>;
};

/** `prism proxy` before a server, by the document that it serves: it lets everything through and says what differs. */
export async function openPrismProxy(server: string, document: string): Promise<PrismProxy> {
  const directory = await mkdtemp(join(tmpdir(), "prism-"));
  const file = join(directory, "openapi.json");
  await writeFile(file, await (await fetch(server + document)).text());
  const port = await findFreePort();
  // Its log ends the process at a line that it can't color: of a body with quotes and brackets.
  const options = ["--port", `${port}`, "--verboseLevel", "silent"];
  const child = spawn(process.execPath, [program, "proxy", file, server, ...options], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const ended = once(child, "exit");
  const url = `http://127.0.0.1:${port}`;
  await until("Prism", async () => {
    if (child.exitCode !== null) throw new Error(`Prism ended with ${child.exitCode}`);
    return await fetch(url).then(
      () => true,
      () => false,
    );
  });
  return {
    async ask({ method, path, body }, given) {
      const headers = { ...given, "content-type": "application/json" };
      const response = await fetch(url + path, {
        ...(body === undefined ? { headers: given } : { headers, body }),
        method,
        signal: AbortSignal.timeout(60_000),
      }).catch((cause) => {
        throw new Error(`${method} ${path} ${body?.slice(0, 2_000)}`, { cause });
      });
      await response.arrayBuffer();
      const said = violationsIn(response.headers.get("sl-violations"));
      const of = (side: string) =>
        said
          .filter(({ location: [where] }) => where === side)
          .map(({ location, message }) => `${location.join(".")}: ${message}`);
      return { status: response.status, request: of("request"), answer: of("response") };
    },
    async close() {
      child.kill();
      await ended;
      await rm(directory, { recursive: true });
    },
  };
}

/** Those of the request are named first; 8 kB of them are cut. */
function violationsIn(header: string | null): z.output<typeof Violations> {
  if (header === null) return [];
  const [, cut] = /^Too many violations! (.*)$/s.exec(header) ?? [];
  if (cut === undefined) return Violations.parse(JSON.parse(header));
  const locations = [...cut.matchAll(/"location":(\[[^\]]*\])/g)];
  return locations.map(([, location = ""]) => ({ location: JSON.parse(location), message: "…" }));
}
