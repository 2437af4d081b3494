import { readFileSync } from "node:fs";
import { describeNftData } from "../../api/account/routes.ts";
import { withWholeRows } from "../../api/reference/row-fields.ts";
import { describeV1, routes } from "../../api/routes.ts";
import type { Document } from "./schema.ts";

const baseUrl = "https://api.example.test";

export const apiNames = ["v1", "account"] as const;
export type ApiName = (typeof apiNames)[number];

/** The documents that are served today, without what only people read. */
export function describeApis(): Readonly<Record<ApiName, Document>> {
  const v1 = describeV1(baseUrl, routes);
  const account = describeNftData(baseUrl, { hasStream: true });
  return { v1: contractOf(v1), account: contractOf(account) };
}

/** The document of the last release, with which today's must stay compatible. */
export function readReleased(api: ApiName): Document {
  return JSON.parse(readFileSync(releasedFile(api), "utf8"));
}

export function releasedFile(api: ApiName): URL {
  return new URL(`released/${api}.json`, import.meta.url);
}

/** A line for each operation and schema, so that a change of the released document can be read. */
export function formatDocument({ paths, components }: Document): string {
  return `${linesOf({ paths, components }, 3)}\n`;
}

function linesOf(value: object, depth: number): string {
  if (depth === 0) return JSON.stringify(value);
  const lines = Object.entries(value).map(
    ([key, one]) => `${JSON.stringify(key)}: ${linesOf(one, depth - 1)}`,
  );
  return `{\n${lines.join(",\n")}\n}`;
}

const forPeople = new Set(["description", "summary", "example", "examples", "title", "tags"]);

/** A copy of whole rows, without descriptions and examples; the keys of `properties` are names, not keywords. */
function contractOf(value: object): Document {
  return without(withWholeRows(value), false) as Document;
}

function without(value: unknown, areNames: boolean): unknown {
  if (Array.isArray(value)) return value.map((one) => without(one, false));
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => areNames || !forPeople.has(key));
  return Object.fromEntries(
    kept.map(([key, one]) => [key, without(one, !areNames && namesOf.has(key))]),
  );
}

const namesOf = new Set(["properties", "paths", "schemas", "parameters", "responses", "headers"]);
