import { describe, expect, it } from "vitest";
import { parseContractMetadata } from "../domain/metadata/contract-metadata.ts";
import { isJsonObject, parseJsonDocument } from "../domain/metadata/document.ts";
import { locate } from "../domain/metadata/location.ts";
import { parseTokenMetadata } from "../domain/metadata/token-metadata.ts";

function readBytes(bytes: Uint8Array, charset?: string) {
  const document = parseJsonDocument(bytes, charset);
  return typeof document === "string" ? document : parseTokenMetadata(document);
}
const read = (text: string) => readBytes(Buffer.from(text));
const readObject = (document: unknown) => read(JSON.stringify(document));

function readUri(uri: string) {
  const location = locate(uri);
  return isJsonObject(location) && location.kind === "data"
    ? readBytes(location.bytes, location.charset)
    : location;
}
const traitsOf = (document: unknown) => {
  const metadata = readObject(document);
  const attributes = metadata === null || typeof metadata === "string" ? [] : metadata.attributes;
  return attributes.map(({ trait_type, value }) => [trait_type, value]);
};

describe("a document that somebody wrote by hand", () => {
  // Case 14.
  it.each([
    [
      'data:application/json;utf8,{"name":"raw newline","description":"one\ntwo","image":"https://example.com/a.png"}',
      { name: "raw newline", description: "one\ntwo", image: "https://example.com/a.png" },
    ],
    ['data:application/json;utf8,{"name":"tab","description":"a\tb"}', { description: "a\tb" }],
    [
      'data:application/json;utf8,{"name":"comma","attributes":[{"trait_type":"Hat","value":"Beanie"},]}',
      { name: "comma", attributes: [{ trait_type: "Hat", value: "Beanie" }] },
    ],
    ['data:application/json;utf8,{"name":"It\\\'s"}', { name: "It's" }],
    ['data:application/json;base64,{"name":"not base64"}', { name: "not base64" }],
  ])("is read: %j", (uri, metadata) => {
    expect(readUri(uri)).toMatchObject(metadata);
  });

  it("is not guessed at where a quote is not escaped", () => {
    expect(read('{"name":"The "Best" Ape"}')).toBe("the document is not JSON");
  });

  it("may be in a list of one, or written as text once more", () => {
    expect(readObject([{ name: "x" }])).toMatchObject({ name: "x" });
    expect(readObject(JSON.stringify({ name: "x" }))).toMatchObject({ name: "x" });
  });
});

describe("a document's encoding", () => {
  const text = '{"name":"Äpe 猿"}';
  const marked = (mark: number[], bytes: Uint8Array) => Buffer.concat([Buffer.from(mark), bytes]);
  const little = Buffer.from(text, "utf16le");
  const big = Buffer.from(little).swap16();

  it.each([
    ["UTF-8 with its mark", marked([0xef, 0xbb, 0xbf], Buffer.from(text))],
    ["UTF-16 with its mark", marked([0xff, 0xfe], little)],
    ["UTF-16 the other way round", marked([0xfe, 0xff], big)],
    ["UTF-16 without a mark", little],
    ["UTF-16 the other way round without a mark", big],
  ])("is known by its bytes: %s", (_, bytes) => {
    expect(readBytes(bytes)).toMatchObject({ name: "Äpe 猿" });
  });

  it("is as the host says, unless it is UTF-8", () => {
    const latin = Buffer.from('{"name":"Äpe"}', "latin1");
    expect(readBytes(latin, "iso-8859-1")).toMatchObject({ name: "Äpe" });
    expect(readBytes(Buffer.from(text), "iso-8859-1")).toMatchObject({ name: "Äpe 猿" });
    expect(readBytes(Buffer.from(text), "no-such-charset")).toMatchObject({ name: "Äpe 猿" });
    expect(
      readUri("data:application/json;charset=iso-8859-1,{%22name%22:%22%C4pe%22}"),
    ).toMatchObject({ name: "Äpe" });
  });
});

describe("a JSON schema in place of a document", () => {
  // Case 16.
  const schema = {
    title: "Asset Metadata",
    type: "object",
    properties: {
      name: { type: "string", description: "Schema Name" },
      description: { type: "string", description: "Schema description" },
      image: { type: "string", description: "https://example.com/schema.png" },
    },
  };
  const { type: _, ...untyped } = schema;
  const { name } = schema.properties;
  const listDeclarations = [
    { type: "array", description: "Attributes of the asset" },
    { type: "array", items: { type: "object", properties: { trait_type: { type: "string" } } } },
    { type: ["array", "null"], title: "Traits" },
    { type: "object", properties: { value: { type: "string" } } },
  ];

  it.each([
    schema,
    untyped,
    { $schema: "http://json-schema.org/draft-07/schema#", ...schema, description: "A token" },
    {
      title: "Token Metadata",
      type: "object",
      properties: { properties: { type: "object", properties: {} } },
    },
    ...listDeclarations.map((attributes) => ({
      ...schema,
      properties: { ...schema.properties, attributes },
    })),
    ...listDeclarations.map((traits) => ({ ...untyped, properties: { name, traits } })),
    {
      Title: "Asset Metadata",
      Type: "Object",
      Properties: { Name: { Type: "String" }, Attributes: { Type: "array", Description: "All" } },
    },
    { title: "Asset", properties: { name: { type: ["string", "null"] }, image: { $ref: "#/i" } } },
    { title: "Asset", type: ["object", "null"], properties: { attributes: { type: "array" } } },
    { title: "Asset", $schema: "http://json-schema.org/schema#", $ref: "#/definitions/asset" },
    { metadata: { ...schema, properties: { attributes: { type: "array", description: "All" } } } },
    { properties: { attributes: { type: "array", description: "All" } } },
    { attributes: { type: "array", items: { type: "object" } } },
  ])("names nothing: %j", (document) => {
    expect(readObject(document)).toBeNull();
    expect(parseContractMetadata(document)).toBeNull();
  });

  it("leaves what stands beside it", () => {
    expect(readObject({ ...schema, name: "Ape", attributes: { Hat: "Beanie" } })).toMatchObject({
      name: "Ape",
      description: null,
      attributes: [{ trait_type: "Hat", value: "Beanie" }],
    });
  });

  it("is not what has values", () => {
    expect(traitsOf({ name: "Ape", attributes: { Type: "Object", Hat: "Beanie" } })).toEqual([
      ["Type", "Object"],
      ["Hat", "Beanie"],
    ]);
    const properties = { Hat: { type: "string", value: "Beanie" } };
    expect(readObject({ title: "Ape", type: "object", properties })).toMatchObject({
      name: "Ape",
      attributes: [{ trait_type: "Hat", value: "Beanie" }],
    });
  });
});

describe("numbers that a double does not hold", () => {
  it("are kept as their digits (case 17)", () => {
    const seed = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
    expect(
      read(
        `{"name":"bigint","attributes":[{"trait_type":"Seed","value":${seed}},{"trait_type":"Serial","value":9007199254740993}]}`,
      ),
    ).toMatchObject({
      attributes: [
        { trait_type: "Seed", value: seed },
        { trait_type: "Serial", value: "9007199254740993" },
      ],
    });
    expect(
      read(`{"name":${seed},"attributes":{"Ratio":0.12345678901234567890,"Half":0.5}}`),
    ).toMatchObject({
      name: seed,
      attributes: [
        { trait_type: "Ratio", value: "0.12345678901234567890" },
        { trait_type: "Half", value: 0.5 },
      ],
    });
  });

  it("stay text where a number is asked for", () => {
    const value = "123456789012345.123456789012345";
    expect(
      readObject({ attributes: [{ trait_type: "A", value, display_type: "number" }] }),
    ).toMatchObject({
      attributes: [{ trait_type: "A", value, display_type: "number" }],
    });
  });
});

describe("the first usable member counts", () => {
  const https = "https://example.com/1.png";
  it.each([
    [{ name: "", title: "x" }],
    [{ name: null, title: "x" }],
    [{ name: {}, title: "x" }],
    [{ name: "  ", title: "x" }],
    [{ name: false, title: "x" }],
    [{ Name: "x" }],
    [{ name: { en: "x", ja: "猿" } }],
    [{ name: { ja: "猿", default: "x" } }],
    [{ metadata: { name: "x" } }],
  ])("for the name: %j", (document) => {
    expect(readObject(document)).toMatchObject({ name: "x" });
  });

  it("for a name that is a number", () => {
    expect(readObject({ name: 7 })).toMatchObject({ name: "7" });
  });

  it.each([
    [{ image: null, image_url: https }],
    [{ image: "", image_data: https }],
    [{ image: "none", imageUrl: https }],
    [{ image: {}, image_uri: https }],
    [{ image: { url: https } }],
    [{ image: { src: https } }],
    [{ image: { href: https } }],
    [{ image: [https] }],
    [{ image: [{ uri: https }] }],
    [{ Image: https }],
    [{ "image-url": "javascript:alert(1)", imageURI: https }],
    [{ data: { image: https } }],
  ])("for the image: %j", (document) => {
    expect(readObject(document)).toMatchObject({ image: https, contentType: "image/png" });
  });

  it.each([
    [
      "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG/1.png",
      "ipfs://QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG/1.png",
    ],
    [
      "ipfs:QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG",
      "ipfs://QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG",
    ],
    [
      "http://127.0.0.1:8080/ipfs/QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG",
      "ipfs://QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG",
    ],
    ["example.com/1.png", https],
    ["ipfs://", null],
    ["1.png", null],
  ])("and an image's address is made whole: %s", (image, uri) => {
    expect(readObject({ name: "x", image })).toMatchObject({ image: uri });
  });
});

describe("attributes, wherever they are", () => {
  const list = [{ trait_type: "Hat", value: "Beanie" }];
  it.each([
    { attributes: list },
    { traits: list },
    { Attributes: list },
    { attributes: [], traits: list },
    { attributes: JSON.stringify(list) },
    { attributes: '[{"trait_type":"Hat","value":"Beanie"},]' },
    { properties: { attributes: list } },
    { properties: list },
    { metadata: { attributes: list } },
    { data: { traits: list } },
    { attributes: { Hat: "Beanie" } },
    { attributes: { Hat: { value: "Beanie" } } },
    { attributes: { trait_type: "Hat", value: "Beanie" } },
    { attributes: { 0: { type: "Hat", value: "Beanie" } } },
    { attributes: [{ Hat: "Beanie" }] },
    { properties: { Hat: "Beanie" } },
    {
      properties: {
        hat: { name: "Hat", value: "Beanie", display_value: "A Beanie", class: "emphasis" },
      },
    },
    ...["traitType", "Trait Type", "type", "name", "key", "label"].map((name) => ({
      attributes: [{ [name]: "Hat", value: "Beanie" }],
    })),
    { attributes: [{ name: "Hat", type: "string", value: "Beanie" }] },
    { attributes: [{ trait_type: "Hat", trait_value: "Beanie" }] },
    { attributes: [{ trait_type: "Hat", value: null, Value: "Beanie" }] },
  ])("are found: %j", (document) => {
    expect(traitsOf(document)).toEqual([["Hat", "Beanie"]]);
  });

  it.each([
    {
      properties: {
        files: [{ uri: "https://a.example/1.png", type: "image/png" }],
        category: "image",
        creators: [{ address: "x", share: 100 }],
      },
    },
    { properties: { name: "x", image: "ipfs://x", preview: "https://a.example/1.png" } },
    { attributes: "none" },
    { attributes: "[not JSON" },
    { attributes: [{ trait_type: "Hat" }, { value: "Beanie" }] },
    { data: { attributes: { name: "x", image: "https://a.example/1.png" } } },
    { properties: { Hat: { type: "string", description: "What is on the head" } } },
    {
      attributes: [
        { Hat: "Beanie", Eyes: "Blue" },
        { Hat: "Cap", Eyes: "Red" },
      ],
    },
  ])("are not made of what is none: %j", (document) => {
    expect(traitsOf({ name: "x", ...document })).toEqual([]);
  });
});

describe("what is left out for a limit", () => {
  it("is said", () => {
    const attributes = Array.from({ length: 250 }, (_, index) => ({
      trait_type: "T",
      value: index,
    }));
    expect(readObject({ name: "x".repeat(300), attributes })).toMatchObject({
      issue: "name cut to 256 characters; 50 attributes left out: at most 200 are kept",
    });
    expect(
      readObject({ name: "x", attributes: [{ trait_type: "T", value: "v".repeat(300) }] }),
    ).toMatchObject({
      issue: "the value of a trait cut to 256 characters",
    });
    expect(
      read(
        `{"name":"x","attributes":[{"trait_type":"A","value":1e400},{"trait_type":"B","value":1,"display_type":"${"d".repeat(50)}"}]}`,
      ),
    ).toMatchObject({
      issue:
        "the value of a trait left out: beyond all doubles; a display type cut to 40 characters",
    });
    expect(
      readObject({
        name: "x",
        image: `https://a.example/${"x".repeat(3_000)}`,
        description: "d".repeat(10_001),
      }),
    ).toMatchObject({
      issue: "image left out: longer than 2048 characters; description cut to 10000 characters",
    });
  });

  it("is nothing of an ordinary document", () => {
    expect(readObject({ name: "x", attributes: { Hat: "Beanie" } })).not.toHaveProperty("issue");
  });
});
