import { existsSync, readFileSync } from "node:fs";
import { env } from "node:process";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

// biome-ignore lint/style/noProcessEnv: where the recordings are is the tester's choice, not configuration
const folder = env.REAL_DATA_DIR ?? "../shared/realdata";
const files = {
  opensea: `${folder}/opensea/opensea-openapi-ProjectOpenSea-api-types.json`,
  magiceden: `${folder}/partner/magic-eden-evm-openapi.yml`,
};

/** Whether the partners' published documents and recorded answers are at hand. */
export const hasPublished = Object.values(files).every((file) => existsSync(file));

export const readRecorded = (name: string): unknown =>
  JSON.parse(readFileSync(`${folder}/opensea/${name}.json`, "utf8"));

/** A check of answers against one schema of a partner's document: what is wrong, by place. */
export function publishedSchema(
  partner: keyof typeof files,
  name: string,
): (body: unknown) => string[] {
  const text = readFileSync(files[partner], "utf8");
  const document = partner === "opensea" ? JSON.parse(text) : parseBlocks(text);
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema({ $id: "document", components: document.components });
  const validate = ajv.compile({ $ref: `document#/components/schemas/${name}` });
  return (body) => {
    validate(body);
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  };
}

type Line = { indent: number; text: string };
type Tree = { [key: string]: Tree | unknown };

/** As much of YAML as the document is written in: maps and lists of plain scalars, indented. */
function parseBlocks(text: string): Tree {
  const lines = text.split("\n").map((line) => ({
    indent: line.search(/\S|$/),
    text: line.trim(),
  }));
  return parseMap({ lines: lines.filter((line) => line.text !== ""), at: 0 }, 0);
}

type Reading = { lines: Line[]; at: number };

function parseMap(reading: Reading, indent: number): Tree {
  const map: Tree = {};
  for (let line = reading.lines[reading.at]; line !== undefined; line = reading.lines[reading.at]) {
    const [, key, rest] = /^([^\s:]+|'[^']*'):(?:\s+(.*))?$/.exec(line.text) ?? [];
    if (line.indent !== indent || key === undefined || line.text.startsWith("- ")) return map;
    reading.at++;
    map[scalar(key) as string] = parseValue(reading, indent, rest);
  }
  return map;
}

function parseValue(reading: Reading, indent: number, rest: string | undefined): unknown {
  const next = reading.lines[reading.at];
  if (rest !== undefined) {
    skipContinuation(reading, indent);
    return scalar(rest);
  }
  if (next?.text.startsWith("- ")) return parseList(reading, next.indent);
  return next !== undefined && next.indent > indent ? parseMap(reading, next.indent) : null;
}

function parseList(reading: Reading, indent: number): unknown[] {
  const list: unknown[] = [];
  for (let line = reading.lines[reading.at]; line !== undefined; line = reading.lines[reading.at]) {
    if (line.indent !== indent || !line.text.startsWith("- ")) return list;
    const text = line.text.slice(2);
    if (/^[^\s:']+:(\s|$)/.test(text)) {
      reading.lines[reading.at] = { indent: indent + 2, text };
      list.push(parseMap(reading, indent + 2));
    } else {
      reading.at++;
      list.push(scalar(text));
    }
  }
  return list;
}

/** Long text goes on in deeper lines. */
function skipContinuation(reading: Reading, indent: number): void {
  while ((reading.lines[reading.at]?.indent ?? -1) > indent) reading.at++;
}

function scalar(text: string): unknown {
  if (/^-?\d+$/.test(text)) return Number(text);
  if (text === "true" || text === "false") return text === "true";
  return text.replace(/^'(.*)'$/, "$1");
}
