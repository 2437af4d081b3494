import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";

const root = resolve(import.meta.dirname, "../..");

/** A comparison of a column `kind` with a number. */
const rawKind = /\bkind\s*(=|<>|>=|<=|<|>|between|(not\s+)?in\s*\()\s*\d/i;

const sourcesIn = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
    .map((file) => join(folder, file));

describe("SQL of the sources", () => {
  it("writes fact kinds by their names, with kindLiteral and kindList", () => {
    const lines = [...sourcesIn("projections"), ...sourcesIn("api")].flatMap((file) =>
      readFileSync(join(root, file), "utf8")
        .split("\n")
        .flatMap((line, index) =>
          rawKind.test(line) ? [`${file}:${index + 1} ${line.trim()}`] : [],
        ),
    );
    expect(lines).toEqual([]);
  });
});
