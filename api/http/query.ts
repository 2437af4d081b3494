import type { RequestHandler } from "express";
import { z } from "zod";
import { type Rejection, type RejectionDetail, reject } from "#projections/domain/rejection.ts";
import { sendRejection } from "./answer.ts";
import { positionParameter } from "./reads/position.ts";
import { type Route, readsOf } from "./route.ts";

type Value = string | string[] | Map | undefined;
type Map = { [name: string]: Value };

/**
 * The query of a request. `name[key]=value` is a field of the object `name` whatever the key is: a number, a bracket
 * or a space is part of it. A name that is given twice is an array. Never throws: what cannot be decoded stays as it is.
 */
export function parseQuery(text: string | null | undefined): Map {
  // Without a prototype, so that no key means anything else.
  const query: Map = Object.create(null);
  for (const [name, value] of new URLSearchParams(text ?? "")) {
    const [, object, key] = /^([^[\]]+)\[(.*)\]$/s.exec(name) ?? [];
    if (object === undefined || key === undefined) add(query, name, value);
    // `name[a][b]` is an object in an object, which no schema accepts.
    else if (key.includes("][")) objectIn(query, object)[key.split("][", 1)[0] ?? ""] = [];
    else add(objectIn(query, object), key, value);
  }
  return query;
}

/** One that is a plain value as well is the plain value and an object: an array, which no schema accepts. */
function objectIn(query: Map, name: string): Map {
  const known = query[name];
  if (known !== undefined && typeof known === "object" && !Array.isArray(known)) return known;
  const made: Map = Object.create(null);
  query[name] = known === undefined ? made : [];
  return made;
}

function add(fields: Map, name: string, value: string): void {
  const known = fields[name];
  if (known === undefined) fields[name] = value;
  else if (Array.isArray(known)) known.push(value);
  else fields[name] = typeof known === "string" ? [known, value] : [];
}

/** Code of every endpoint. */
export const parameterRefusals = { unknown_parameter: 422 } as const;

/** Names that the query of a request to a route may have; `shared`: those that every route of its API takes. */
export function parametersOf<Context>(
  route: Pick<Route<Context>, "method" | "query" | "reads">,
  shared: readonly string[] = [],
): readonly string[] {
  const position = readsOf(route) === "nothing" ? [] : [positionParameter];
  return [...new Set([...Object.keys(route.query?.shape ?? {}), ...shared, ...position])];
}

/** A mistyped name would be left out of account, so that the answer is to another question. */
export function unknownParameters(
  query: object,
  known: readonly string[],
): Rejection<"unknown_parameter"> | undefined {
  const unknown = Object.keys(query).filter((name) => !known.includes(name));
  if (unknown.length === 0) return undefined;
  const details = unknown.slice(0, maxDetails).map((name) => detailOf(name, known));
  const [first] = details;
  return reject("unknown_parameter", `${first?.field}: ${first?.message}`, details);
}

const maxDetails = 20;
const maxShown = 100;

function detailOf(name: string, known: readonly string[]): RejectionDetail {
  const field = name.slice(0, maxShown);
  const nearest = nearestName(name, known);
  if (nearest !== undefined) {
    const message = `is not a parameter of this request; did you mean ${nearest}?`;
    return { field, expected: nearest, message };
  }
  const message = "is not a parameter of this request, which";
  if (known.length === 0) return { field, message: `${message} takes none` };
  return { field, message: `${message} takes ${known.join(", ")}` };
}

/** Before anything else is done for the request, so that it is no key of any cache. */
export function refuseUnknownParameters(known: readonly string[]): RequestHandler {
  return (request, response, next) => {
    const refusal = unknownParameters(request.query, known);
    if (refusal === undefined) next();
    else sendRejection(response, parameterRefusals[refusal.rejected], refusal);
  };
}

/**
 * The known name that a mistyped one most likely means: by its letters without case and punctuation, then by the fewest
 * letters to change, with two swapped ones as one change. Undefined: none is near. `changesOf`: how many changes a name of
 * so many letters may have.
 */
export function nearestName(
  name: string,
  known: readonly string[],
  changesOf = (letters: number) => Math.max(1, Math.floor(letters / 3)),
): string | undefined {
  const typed = plain(name.slice(0, maxLength));
  let nearest: { readonly name: string; readonly changes: number } | undefined;
  for (const one of known) {
    const letters = plain(one);
    const most = changesOf(Math.max(typed.length, letters.length));
    // At a start each variable of the environment is held against each setting.
    if (Math.abs(typed.length - letters.length) > most) continue;
    const changes = changesBetween(typed, letters);
    if (changes <= most && changes < (nearest?.changes ?? Number.POSITIVE_INFINITY))
      nearest = { name: one, changes };
  }
  return nearest?.name;
}

const maxLength = 100;

const plain = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");

/** Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment). */
function changesBetween(one: string, other: string): number {
  const counts = [Array.from({ length: other.length + 1 }, (_, column) => column)];
  const countOf = (row: number, column: number) =>
    counts[row]?.[column] ?? Number.POSITIVE_INFINITY;
  for (let row = 1; row <= one.length; row++) {
    counts.push([row]);
    for (let column = 1; column <= other.length; column++) {
      const [letter, otherLetter] = [one[row - 1], other[column - 1]];
      const isSwap = letter === other[column - 2] && otherLetter === one[row - 2];
      const changes = Math.min(
        countOf(row - 1, column - 1) + (letter === otherLetter ? 0 : 1),
        countOf(row - 1, column) + 1,
        countOf(row, column - 1) + 1,
        isSwap ? countOf(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY,
      );
      counts[row]?.push(changes);
    }
  }
  return countOf(one.length, other.length);
}

/** `override` of a schema's `meta`: how the document describes it. What is undefined is taken out of the description. */
export const documentAs =
  (described: Readonly<Record<string, unknown>>) =>
  ({ jsonSchema }: { jsonSchema: object }): void =>
    void Object.assign(jsonSchema, described);

/**
 * Comma-separated words of at most so many characters together: a longer text is refused before it is taken apart. Several
 * texts, of a parameter that is given several times, are one: so clients write lists of their own accord.
 */
export const commaList = (maxLength: number) =>
  z
    .union([z.string(), z.array(z.string())])
    .meta({ override: documentAs({ type: "string", anyOf: undefined }) })
    .transform((given, context): string[] => {
      const text = [given].flat().join();
      if (text.length <= maxLength) return text.split(",");
      const message = `must be at most ${maxLength} characters long`;
      context.addIssue({ code: "custom", message });
      return z.NEVER;
    });
