import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import type { Random } from "#test/simulation/random.ts";

type Trait = readonly [type: string, value: string | number];

/** What a token's source says, of which a document is written in one of the ways that people do. */
type Source = { name: string | null; image: string | null; traits: readonly Trait[] };

export type OddDocument = {
  standard: 721 | 1155;
  /** null: it is a schema of documents. */
  source: Source | null;
  body: Uint8Array;
  headers: Readonly<Record<string, string>>;
  /** As it was before its encoding, to tell which one failed. */
  text: string;
};

type Members = readonly (readonly [name: string, value: unknown])[];

/** Digits that a double loses are written without the quotes that they have until the document is text. */
const bareDigits = (digits: string) => `@digits ${digits}@`;

/** A document as somebody may have written and served it, and what it says. The same seed gives the same document. */
export function oddDocument(random: Random, place: number): OddDocument {
  const standard = random.pick([721, 1155] as const);
  const source = random.chance(0.1) ? null : drawSource(random, place);
  const description = random.pick(["plain", "one\ntwo\tthree", 'a "quoted" word', "back\\slash"]);
  const members: Members = [
    ...(source === null ? drawSchema(random) : drawMembers(random, source)),
    ["description", description],
  ];
  const text = writeByHand(random, JSON.stringify(Object.fromEntries(random.shuffle(members))));
  const { bytes, charset } = encodeText(random, text);
  const { body, coding } = encodeContent(random, bytes);
  const type = random.pick(["application/json", "text/plain", "application/octet-stream", ""]);
  const headers = {
    ...(coding === null ? {} : { "content-encoding": coding }),
    "content-type": charset === null ? type : `${type}; charset=${charset}`,
  };
  return { standard, source: source && stated(source, standard, place), body, headers, text };
}

const cid = "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG";

function drawSource(random: Random, place: number): Source {
  const values = [
    ...["Beanie", "Top Hat", "¯\\_(ツ)_/¯", "It's", "{id", "a, b", "[x],", "0x1F"],
    ...["No. {id}", "{ID}", "{ id }", "%7Bid%7D"],
    ...[7, 0.5, -3],
    ...[
      "9007199254740993",
      "115792089237316195423570985008687907853269984665640564039457584007913129639935",
    ],
  ];
  const types = random.shuffle(["Hat", "Eyes", "Back ground", "Level", "__proto__", "1st"]);
  const traits = types.slice(0, random.int(0, 4)).map((type): Trait => [type, random.pick(values)]);
  const image = random.pick([
    `ipfs://${cid}/Ape #${place}.png`,
    `https://images.example.com/${place}.png`,
    `ar://${"a".repeat(43)}`,
    `https://images.example.com/${random.pick(["{id}", "%7bid%7d", "{ID}"])}.png`,
    null,
  ]);
  return {
    name: random.pick([`Ape #${place}`, `Äpe ${place}`, `${place}`, "Ape {id}"]),
    image,
    traits,
  };
}

const placeholders = /(?:\{|%7B) ?id ?(?:\}|%7D)/gi;

/** What a document says of one token: with ERC-1155 `{id}` stands for it, with ERC-721 in addresses of media alone. */
function stated({ name, image, traits }: Source, standard: 721 | 1155, place: number): Source {
  const hex = place.toString(16).padStart(64, "0");
  const written = (text: string) => text.replaceAll(placeholders, hex);
  if (standard === 721) return { name, image: image && written(image), traits };
  const values = traits.map(
    ([type, value]): Trait => [type, typeof value === "string" ? written(value) : value],
  );
  return { name: name && written(name), image: image && written(image), traits: values };
}

const drawMembers = (random: Random, source: Source): Members => [
  ...drawName(random, source.name),
  ...drawImage(random, source.image),
  ...drawTraits(random, source.traits),
];

/** As ERC-721 and ERC-1155 print it, with the lists that people add, its words in any case. */
function drawSchema(random: Random): Members {
  const word = random.pick<(word: string) => string>([
    (plain) => plain,
    (plain) => plain[0]?.toUpperCase() + plain.slice(1),
    (plain) => plain.toUpperCase(),
  ]);
  const declared = (type: string, more: Members = []) =>
    Object.fromEntries([
      [word("type"), random.pick([type, [type, "null"]])],
      ...random.pick([[], [[word("description"), "What it is"]]]),
      ...more,
    ]);
  const item = declared("object", [[word("properties"), { trait_type: declared("string") }]]);
  const properties = Object.fromEntries([
    [word("name"), declared("string")],
    ...random.pick([[], [[word("image"), declared("string")]]]),
    ...random.pick([[], [[word("attributes"), declared("array", [["items", item]])]]]),
    ...random.pick([[], [[word("traits"), declared("array")]]]),
    ...random.pick([[], [[word("properties"), declared("object")]]]),
  ]);
  return [
    [word("title"), "Asset Metadata"],
    ...random.pick<Members>([
      [],
      [[word("type"), "object"]],
      [["$schema", "http://json-schema.org/"]],
    ]),
    [word("properties"), properties],
  ];
}

function drawName(random: Random, name: string | null): Members {
  const unusable = random.pick(["", null, {}, [], "  ", false]);
  const isNumber = /^\d+$/.test(name ?? "");
  return random.pick<Members>([
    [["name", name]],
    [
      ["title", name],
      ["name", unusable],
    ],
    [["Name", name]],
    [["name", { ja: "猿", en: name }]],
    [["metadata", { name }]],
    ...(isNumber ? [[["name", Number(name)]] as Members] : []),
  ]);
}

function drawImage(random: Random, image: string | null): Members {
  const unusable = random.pick(["", null, {}, [], 7, "none", "javascript:alert(1)"]);
  if (image === null) return random.pick<Members>([[], [["image", unusable]]]);
  return random.pick<Members>([
    [["image", image]],
    [
      ["image", unusable],
      ["image_url", image],
    ],
    [
      ["image", unusable],
      ["imageUrl", image],
    ],
    [
      ["image", unusable],
      ["image_data", image],
    ],
    [["imageURI", image]],
    [["Image", image]],
    [["image", [image]]],
    [["image", { [random.pick(["url", "uri", "src", "href"])]: image }]],
    [["image", image.replace("ipfs://", random.pick(["ipfs:/", "ipfs:", "/ipfs/", ""]))]],
  ]);
}

function drawTraits(random: Random, traits: readonly Trait[]): Members {
  const decoy: Members = random.pick<Members>([
    [],
    [
      [
        "properties",
        { files: [{ uri: "https://a.example/1.png", type: "image/png" }], category: "image" },
      ],
    ],
    [["properties", { Hat: { type: "string", description: "What is worn" } }]],
    [["properties", { attributes: { type: "array", description: "What is worn" } }]],
  ]);
  if (traits.length === 0) return decoy;
  const written = traits.map(([type, value]) => [type, quoted(value)] as const);
  const [typeName, valueName] = random.pick([
    ["trait_type", "value"],
    ["traitType", "value"],
    ["type", "value"],
    ["name", "value"],
    ["key", "value"],
    ["trait_type", "trait_value"],
  ] as const);
  const list = written.map(([type, value]) => ({ [typeName]: type, [valueName]: value }));
  const map = Object.fromEntries(written);
  const rich = Object.fromEntries(written.map(([type, value]) => [type, { value }]));
  return random.pick<Members>([
    [["attributes", list], ...decoy],
    [["traits", list], ...decoy],
    [["Attributes", [...list, null, "text", { value: "of nothing" }]], ...decoy],
    [
      ["attributes", []],
      ["properties", { attributes: list }],
    ],
    [["attributes", written.map(([type, value]) => ({ [type]: value }))], ...decoy],
    // An object has numbers first, so that order is not kept; what is text is compared as a set.
    [["attributes", map], ...decoy],
    [["properties", map]],
    [["properties", rich]],
    [["data", { attributes: list }], ...decoy],
    [["attributes", unquote(JSON.stringify(list))], ...decoy],
  ]);
}

const quoted = (value: string | number) =>
  typeof value === "string" && /^\d{16,}$/.test(value) ? bareDigits(value) : value;

const unquote = (json: string) => json.replace(/"@digits (\d+)@"/g, "$1");

/** What people do to JSON whom no library helps. */
function writeByHand(random: Random, json: string): string {
  const habits: ((text: string) => string)[] = [
    (text) => text.replaceAll("\\n", "\n").replaceAll("\\t", "\t"),
    (text) => text.replaceAll("'", "\\'"),
    (text) => text.replaceAll("\\\\_", "\\_"),
    (text) => `${text.slice(0, -1)},}`,
    (text) => text.replace("{", "{,"),
    (text) => `${random.pick(["\r\n ", ";", "\n\0"])}${text}`,
    (text) => `${text}${random.pick([";", "\0\0", "\n;\n", "}"])}`,
  ];
  // Text within text has escapes of its own, which these habits would break.
  const isNested = json.includes('\\"value\\"') || json.includes('\\"trait_value\\"');
  const chosen = habits.filter((_, index) => random.chance(0.2) && (!isNested || index > 2));
  return chosen.reduce((text, habit) => habit(text), unquote(json));
}

function encodeText(random: Random, text: string): { bytes: Uint8Array; charset: string | null } {
  const wide = Buffer.from(`\ufeff${text}`, "utf16le");
  const isLatin = /^[\0-\u00ff]*$/.test(text);
  return random.pick([
    { bytes: Buffer.from(text), charset: null },
    { bytes: Buffer.from(text), charset: "UTF-8" },
    { bytes: Buffer.from(text), charset: "latin1" },
    { bytes: Buffer.from(`\ufeff${text}`), charset: null },
    { bytes: wide, charset: null },
    { bytes: Buffer.from(wide).swap16(), charset: null },
    ...(isLatin ? [{ bytes: Buffer.from(text, "latin1"), charset: "ISO-8859-1" }] : []),
  ]);
}

function encodeContent(
  random: Random,
  bytes: Uint8Array,
): { body: Uint8Array; coding: string | null } {
  return random.pick([
    { body: bytes, coding: null },
    { body: bytes, coding: random.pick(["utf-8", "Identity", "none", "aws-chunked", ""]) },
    { body: gzipSync(bytes), coding: random.pick(["gzip", "GZIP", "x-gzip", "identity, gzip"]) },
    { body: gzipSync(bytes), coding: random.pick([null, "utf-8"]) },
    { body: gzipSync(gzipSync(bytes)), coding: random.pick([null, "gzip", "gzip, gzip"]) },
    { body: deflateSync(bytes), coding: "deflate" },
    { body: deflateRawSync(bytes), coding: "deflate" },
    { body: brotliCompressSync(bytes), coding: "br" },
    { body: brotliCompressSync(gzipSync(bytes)), coding: "gzip, br" },
  ]);
}
