import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { parquetMetadata, parquetReadObjects } from "hyparquet";
import { describe, expect, it } from "vitest";
import { writeParquet } from "./parquet.ts";
import type { ExportColumn } from "./read-rows.ts";

const columns: ExportColumn[] = [
  { name: "is_burned", type: "boolean" },
  { name: "chain_id", type: "integer" },
  { name: "block_number", type: "bigint" },
  { name: "score", type: "double" },
  { name: "block_timestamp", type: "time" },
  { name: "token_id", type: "text" },
  { name: "nobody_knows", type: "text" },
];

const rowOf = (index: number) => [
  index % 3 === 0 ? null : `${index % 2 === 0}`,
  "33139",
  `${2n ** 62n + BigInt(index)}`,
  `${index / 7}`,
  new Date(1_700_000_000_123 + index).toISOString(),
  index % 5 === 0 ? "" : `${2n ** 256n - BigInt(index)} “${index}”`,
  null,
];

type Rows = readonly (readonly (string | null)[])[];
const written = (rows: Rows, atOnce: number) => writtenAs(columns, rows, atOnce);

async function writtenAs(columns: readonly ExportColumn[], rows: Rows, atOnce = 2) {
  const pieces: Uint8Array[] = [];
  const writer = writeParquet(columns, async (bytes) => void pieces.push(bytes));
  for (let start = 0; start < rows.length; start += atOnce) {
    await writer.write(rows.slice(start, start + atOnce));
  }
  await writer.end();
  const bytes = Buffer.concat(pieces);
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  return { file: file as ArrayBuffer, pieces };
}

it("a Parquet file is read back as the rows it was written from, types and nulls included, group after group", async () => {
  const rows = Array.from({ length: 45_001 }, (_, index) => rowOf(index));
  const { file, pieces } = await written(rows, 2_000);

  const read = await parquetReadObjects({ file });
  const groups = parquetMetadata(file).row_groups.map(({ num_rows }) => num_rows);
  expect(groups.reduce((sum, one) => sum + one, 0n)).toBe(45_001n);
  expect(groups.length).toBe(3);
  expect(pieces.length).toBeGreaterThanOrEqual(groups.length);
  expect(read.length).toBe(rows.length);
  for (const index of [0, 1, 2, 5, 19_999, 20_000, 44_999, 45_000]) {
    const [burned = null, chain, block, score, time, token] = rows[index] ?? [];
    expect(read[index]).toEqual({
      is_burned: burned === null ? null : burned === "true",
      chain_id: Number(chain),
      block_number: BigInt(block ?? ""),
      score: Number(score),
      block_timestamp: new Date(time ?? ""),
      token_id: token,
      nobody_knows: null,
    });
  }
});

it("a Parquet file without rows has its columns", async () => {
  const { file } = await written([], 1);
  const { schema, num_rows } = parquetMetadata(file);
  expect(num_rows).toBe(0n);
  expect(schema.slice(1).map(({ name }) => name)).toEqual(columns.map(({ name }) => name));
});

describe("numbers of an export", () => {
  const numbers: ExportColumn[] = [
    { name: "token_id", type: "whole" },
    { name: "total_native", type: "native" },
    { name: "fees", type: "fees" },
  ];
  const fee = (wei: string) => ({ recipient: "0x01", wei, bps: 250, kind: "royalty" });
  const most = "9".repeat(38);
  const rows = [
    ["1", "1.500000000000000001", JSON.stringify([fee("25"), fee(most)])],
    [most, "0.000000000000000001", "[]"],
    [`${2n ** 256n - 1n}`, `${10n ** 20n}.5`, JSON.stringify([fee(`${2n ** 256n - 1n}`)])],
    ["0", "12", null],
    [null, null, null],
  ];

  async function ask(query: string): Promise<unknown[][]> {
    const folder = await mkdtemp(join(tmpdir(), "parquet-"));
    const path = join(folder, "rows.parquet");
    await writeFile(path, Buffer.from((await writtenAs(numbers, rows)).file));
    const instance = await DuckDBInstance.create(":memory:");
    const connection = await instance.connect();
    const reader = await connection.runAndReadAll(query.replace("rows", `'${path}'`));
    const answer = reader.getRowsJson();
    connection.closeSync();
    instance.closeSync();
    await rm(folder, { recursive: true });
    return answer;
  }

  it("are numbers to another engine, lists are lists, and what has too many digits is text", async () => {
    expect(await ask("select column_name, column_type from (describe from rows)")).toEqual([
      ["token_id", "DECIMAL(38,0)"],
      ["token_id_text", "VARCHAR"],
      ["total_native", "DECIMAL(38,18)"],
      ["total_native_text", "VARCHAR"],
      ["fees", "STRUCT(recipient VARCHAR, wei DECIMAL(38,0), bps INTEGER, kind VARCHAR)[]"],
    ]);
    expect(await ask("select sum(total_native)::varchar, count(token_id_text) from rows")).toEqual([
      ["13.500000000000000002", "1"],
    ]);
    expect(
      await ask(
        "select sum(fee.wei)::varchar, count(*) from (select unnest(fees) as fee from rows)",
      ),
    ).toEqual([[`${BigInt(most) + 25n}`, "3"]]);
  });

  it("are exactly what they were", async () => {
    const answer = await ask(
      `select coalesce(token_id::varchar, token_id_text),
              coalesce(rtrim(rtrim(total_native::varchar, '0'), '.'), total_native_text), len(fees)::int
       from rows`,
    );
    expect(answer).toEqual([
      ["1", "1.500000000000000001", 2],
      [most, "0.000000000000000001", 0],
      [`${2n ** 256n - 1n}`, `${10n ** 20n}.5`, 1],
      ["0", "12", null],
      [null, null, null],
    ]);
  });
});
