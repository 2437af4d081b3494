import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { bundleEntry } from "./bundle-entry.ts";

/** The most that an entry of the client may weigh in a browser, minified and gzipped, without viem. */
const entries = [
  { name: "order-book", file: "src/index.ts", mostBytes: 6_000 },
  { name: "order-book/viem", file: "src/viem/index.ts", mostBytes: 20_000 },
];

for (const { name, file, mostBytes } of entries) {
  const bytes = await weigh(fileURLToPath(new URL(file, import.meta.url)));
  process.stdout.write(`${name}: ${bytes} of ${mostBytes} bytes\n`);
  if (bytes > mostBytes) process.exitCode = 1;
}

async function weigh(entry: string): Promise<number> {
  return gzipSync(await bundleEntry(entry, { external: ["viem"] }), { level: 9 }).length;
}
