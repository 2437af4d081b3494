import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { ConfigurationError } from "../config/read-config.ts";
import { makeDataDirectory } from "./supervisor.ts";

const scratch = mkdtempSync(join(tmpdir(), "data-directory-"));
afterAll(() => rmSync(scratch, { recursive: true }));

it("creates a directory and its missing parents", () => {
  makeDataDirectory(join(scratch, "a/b/c"));
  makeDataDirectory(join(scratch, "a/b/c"));
  expect(statSync(join(scratch, "a/b/c")).isDirectory()).toBe(true);
});

it("rejects a path that cannot be a directory, naming the setting and an example", () => {
  writeFileSync(join(scratch, "file"), "");
  for (const path of [join(scratch, "file/x"), join(scratch, "file"), "/proc/nope/x"]) {
    expect(() => makeDataDirectory(path)).toThrow(ConfigurationError);
    expect(() => makeDataDirectory(path)).toThrow(/DATA_DIR: expected .*got .*Example: DATA_DIR=/);
  }
});
