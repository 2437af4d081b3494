import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Environment } from "./config/environment.ts";
import { roleNames } from "./processes/run-role.ts";
import { answeringFlags } from "./programs.ts";

const folder = join(import.meta.dirname, "../docs/deploying");

/** Variables of others: Node's, the database image's. */
const foreign = /^(NODE_ENV|POSTGRES_\w+)$/;

/** Variables that a file sets or asks for. */
function settingsOf(text: string): string[] {
  const assigned = [
    ...text.matchAll(/\b([A-Z][A-Z0-9]*_[A-Z0-9_]+|HOST|PORT)(?:=|:(?= )|", value|, value)/g),
  ];
  const asked = [...text.matchAll(/\$\{([A-Z0-9_]+)/g)];
  return [...assigned, ...asked].map(([, name = ""]) => name).filter((name) => !foreign.test(name));
}

const rolesOf = (text: string): string[] =>
  [...text.matchAll(/--only"?[, ]+"?([a-z]+)/g)].map(([, role = ""]) => role);

const programsOf = (text: string): string[] => text.match(/\b[\w/.-]+\.mjs\b/g) ?? [];

const files = readdirSync(folder).map((name) => ({
  name,
  text: readFileSync(join(folder, name), "utf8"),
}));

describe.each(files)("docs/deploying/$name", ({ text }) => {
  it("names settings and roles of the service alone", () => {
    expect(Object.keys(Environment.shape)).toEqual(expect.arrayContaining(settingsOf(text)));
    expect(roleNames).toEqual(expect.arrayContaining(rolesOf(text)));
    for (const path of programsOf(text)) expect(existsSync(join(folder, "../..", path))).toBe(true);
  });
});

it("every role is deployed", () => {
  const text = readFileSync(join(folder, "kubernetes.yaml"), "utf8");
  expect(new Set(rolesOf(text))).toEqual(new Set(["indexer", "projector", "jobs", "api"]));
  expect(settingsOf(text)).toContain("TRUST_PROXY");
});

it.each(files.filter(({ text }) => rolesOf(text).length > 0))(
  "$name gives the process that answers requests the supervisor's flags",
  ({ text }) => {
    for (const flag of answeringFlags) expect(text).toContain(flag);
  },
);
