import { parquetMetadata, parquetReadObjects } from "hyparquet";
import { expect, it } from "vitest";
import type { Column } from "../../../projections/reads/analytics/read-rows.ts";
import { writeParquet } from "./parquet.ts";

const columns: Column[] = [
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

async function written(rows: readonly (readonly (string | null)[])[], atOnce: number) {
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
