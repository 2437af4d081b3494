import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseEnv } from "node:util";
import { expect, it } from "vitest";
import { parseAllDocuments } from "yaml";

const root = resolve(import.meta.dirname, "..");
const folders = ["docs/monitoring", "docs/deploying"];
const files = [
  ".env.example",
  ...folders.flatMap((folder) =>
    readdirSync(join(root, folder)).map((name) => `${folder}/${name}`),
  ),
].filter((name) => !name.endsWith(".md"));
const read = (name: string) => readFileSync(join(root, name), "utf8");

/** What is wrong with a file, as the program that reads it would say. */
function faultsOf(name: string): unknown[] {
  const text = read(name);
  if (/\.ya?ml$/.test(name))
    return parseAllDocuments(text).flatMap(({ errors, warnings }) => [...errors, ...warnings]);
  if (name.endsWith(".json")) return JSON.parse(text) === null ? ["empty"] : [];
  if (name.endsWith(".service")) return linesThatAreNot(text, /^(\[\w+\]|[A-Z]\w*=.*|)$/);
  if (name.endsWith("Containerfile"))
    return linesThatAreNot(
      text,
      /^(FROM|RUN|COPY|WORKDIR|ENV|USER|EXPOSE|ENTRYPOINT|CMD|ARG|HEALTHCHECK|STOPSIGNAL|VOLUME|LABEL)\s|^$/,
    );
  if (name.endsWith(".dockerignore")) return linesThatAreNot(text, /^!?[\w./*@-]+$|^$/);
  if (name === ".env.example")
    return Object.keys(parseEnv(text.replace(/^# ?(?=[A-Z_0-9]+=)/gm, ""))).length > 50
      ? []
      : ["no settings"];
  return [`nothing is known to read ${name}`];
}

/** Lines, each with those that continue it, that have another form; comments have none. */
function linesThatAreNot(text: string, form: RegExp): string[] {
  const lines = text
    .replaceAll(/^\s*[#;].*\n/gm, "")
    .replaceAll(/\\\n/g, " ")
    .split("\n");
  return lines.filter((line) => !form.test(line));
}

it.each(files)("%s is what its reader reads", (name) => {
  expect(faultsOf(name)).toEqual([]);
});
