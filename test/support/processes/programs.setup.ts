import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";
import { launch } from "../../../api/run/programs/program.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Paths of the compiled programs that tests start. */
    programs: { op: string; service: string };
  }
}

/** Compiled once per run; an edit meanwhile does not change what the tests start. */
export async function setup(project: TestProject): Promise<void> {
  const { stdout } = await promisify(execFile)(process.execPath, launch("build"));
  const directory = stdout.trim();
  project.provide("programs", {
    op: join(directory, "op.mjs"),
    service: join(directory, "service.mjs"),
  });
}
