import { readFile, writeFile } from "node:fs/promises";
import { withWholeRows } from "../../api/reference/row-fields.ts";
import { describeV1, routes } from "../../api/routes.ts";
import { compareDocuments } from "./compare-documents.ts";
import { apiNames, describeApis, formatDocument, readReleased, releasedFile } from "./documents.ts";
import { generateChains } from "./generate-chains.ts";
import { generateTypes } from "./generate-types.ts";

const usage = `usage: node sdk/document/main.ts check|generate|release
check     the types equal the document, and the document breaks no caller of the released one
generate  writes the types of today's document
release   makes today's documents the released ones
`;

const typesFile = new URL("../src/document.ts", import.meta.url);
const chainsFile = new URL("../src/chains.ts", import.meta.url);

const commands: Readonly<Record<string, () => Promise<string[]>>> = { check, generate, release };
const [name = ""] = process.argv.slice(2);
const command = commands[name];
const problems = command === undefined ? [usage] : await command();
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;

async function check(): Promise<string[]> {
  const today = describeApis();
  const breaks = apiNames.flatMap((api) => compareDocuments(readReleased(api), today[api]));
  const types = await readFile(typesFile, "utf8").catch(() => "");
  const chains = await readFile(chainsFile, "utf8").catch(() => "");
  const isStale = types !== (await todaysTypes());
  return [
    ...breaks.map((one) => `breaks callers of the released document: ${one}`),
    ...(chains === generateChains()
      ? []
      : ["sdk/src/chains.ts differs from the chains: npm run sdk:generate"]),
    ...(isStale ? ["sdk/src/document.ts differs from the document: npm run sdk:generate"] : []),
  ];
}

async function generate(): Promise<string[]> {
  await writeFile(chainsFile, generateChains());
  await writeFile(typesFile, await todaysTypes());
  return [];
}

async function release(): Promise<string[]> {
  const today = describeApis();
  for (const api of apiNames) await writeFile(releasedFile(api), formatDocument(today[api]));
  return [];
}

function todaysTypes(): Promise<string> {
  return generateTypes(withWholeRows(describeV1("https://api.example.test", routes)));
}
