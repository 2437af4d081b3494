import { z } from "zod";
import { commaList } from "./comma-list.ts";

/** The fields of a row that are wanted; undefined: all of them. */
export type RowFields = ReadonlySet<string> | undefined;

/** Query parameter of a list: which fields of its rows are sent. The row's schema says which there are. */
export function rowFields(row: z.ZodObject) {
  const names = Object.keys(row.shape);
  return commaList(2_000)
    .transform((words, context): ReadonlySet<string> => {
      const wanted = new Set(words);
      const unknown = [...wanted].find((name) => !names.includes(name));
      if (unknown === undefined) return wanted;
      const message = `"${unknown.slice(0, 100)}" is no field of a row; these are: ${names.join(", ")}`;
      context.addIssue({ code: "custom", message });
      return z.NEVER;
    })
    .optional()
    .meta({
      description:
        "Only these fields of each row, comma-separated; without it all. What only other fields need is not read. Rows then lack fields that the schema of the answer requires.",
      override: { type: "array", items: { type: "string", enum: names }, minItems: 1 },
      param: { style: "form", explode: false },
    });
}

/** What is read for some fields only, each part with its fields. */
export type PartFields<Part, Name extends string = string> = readonly (readonly [
  Part,
  readonly Name[],
])[];

/** The parts that have to be read for the wanted fields. */
export function partsOf<Part>(fields: RowFields, known: PartFields<Part>): ReadonlySet<Part> {
  const wanted = known.filter(
    ([, names]) => fields === undefined || names.some((name) => fields.has(name)),
  );
  return new Set(wanted.map(([part]) => part));
}

/** The row with the wanted fields alone, in the order of a whole row. Its type stays that of the document. */
export function pickFields<Row extends object>(row: Row, fields: RowFields): Row {
  if (fields === undefined) return row;
  return Object.fromEntries(Object.entries(row).filter(([name]) => fields.has(name))) as Row;
}

export function withFields<Row extends object>(rows: Row[], fields: RowFields): Row[] {
  return fields === undefined ? rows : rows.map((row) => pickFields(row, fields));
}
