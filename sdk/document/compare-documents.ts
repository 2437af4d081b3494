import { type Comparison, compareSchemas } from "./compare-schemas.ts";
import { type Document, type Operation, type Parameter, resolve } from "./schema.ts";

/**
 * Changes from the released document to today's that break a caller; none: whatever worked still works. Paths,
 * parameters, fields and values may be added.
 */
export function compareDocuments(released: Document, today: Document): string[] {
  return Object.entries(released.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, before]) => {
      const now = today.paths[path]?.[method];
      const place = `${method} ${path}`;
      if (now === undefined) return [`${place}: is gone`];
      return compareOperations({ released, today }, place, before, now);
    }),
  );
}

type Documents = Pick<Comparison, "released" | "today">;

function compareOperations(
  documents: Documents,
  place: string,
  before: Operation,
  now: Operation,
): string[] {
  const isRenamed = before.operationId !== now.operationId;
  return [
    ...(isRenamed ? [`${place}: was called ${before.operationId}`] : []),
    ...compareParameters({ ...documents, direction: "input" }, place, before, now),
    ...compareBodies({ ...documents, direction: "input" }, place, before, now),
    ...compareResponses({ ...documents, direction: "output" }, place, before, now),
  ];
}

const parametersOf = (document: Document, { parameters = [] }: Operation) =>
  parameters.map((one) => resolve(document, one));

function compareParameters(
  comparison: Comparison,
  place: string,
  released: Operation,
  operation: Operation,
): string[] {
  const before = parametersOf(comparison.released, released);
  const now = parametersOf(comparison.today, operation);
  const find = (list: readonly Parameter[], { in: where, name }: Parameter) =>
    list.find((one) => one.in === where && one.name === name);
  const added = now.filter((one) => one.required === true && !find(before, one)?.required);
  return [
    ...added.map(({ name }) => `${place} ?${name}: is now required`),
    ...before.flatMap((parameter) => {
      const at = `${place} ?${parameter.name}`;
      const today = find(now, parameter);
      if (today === undefined) return [`${at}: is gone`];
      const isWrittenOtherwise =
        parameter.style !== today.style || parameter.explode !== today.explode;
      return [
        ...(isWrittenOtherwise ? [`${at}: is written otherwise`] : []),
        ...compareSchemas(comparison, at, parameter.schema ?? {}, today.schema ?? {}),
      ];
    }),
  ];
}

function compareBodies(
  comparison: Comparison,
  place: string,
  { requestBody: before }: Operation,
  { requestBody: now }: Operation,
): string[] {
  const isNowRequired = now?.required === true && before?.required !== true;
  const changes = isNowRequired ? [`${place} body: is now required`] : [];
  if (before === undefined) return changes;
  if (now === undefined) return [`${place} body: is gone`];
  return [...changes, ...compareContents(comparison, `${place} body`, before.content, now.content)];
}

function compareResponses(
  comparison: Comparison,
  place: string,
  before: Operation,
  now: Operation,
): string[] {
  return Object.entries(before.responses).flatMap(([status, response]) => {
    const at = `${place} ${status}`;
    const today = now.responses[status];
    if (today === undefined) return [`${at}: is gone`];
    const { content: had = {} } = resolve(comparison.released, response);
    const { content: has = {} } = resolve(comparison.today, today);
    return compareContents(comparison, at, had, has);
  });
}

type Content = NonNullable<Operation["responses"][string]["content"]>;

function compareContents(
  comparison: Comparison,
  place: string,
  before: Content,
  now: Content,
): string[] {
  return Object.entries(before).flatMap(([type, { schema = {} }]) => {
    const today = now[type];
    if (today === undefined) return [`${place} ${type}: is gone`];
    return compareSchemas(comparison, place, schema, today.schema ?? {});
  });
}
