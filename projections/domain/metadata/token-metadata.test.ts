import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseContractMetadata } from "./contract-metadata.ts";
import { parseJsonDocument } from "./document.ts";
import { parseTokenMetadata } from "./token-metadata.ts";

function read(json: string | Uint8Array, editionId?: bigint) {
  const document = parseJsonDocument(typeof json === "string" ? Buffer.from(json) : json);
  return typeof document === "string" ? document : parseTokenMetadata(document, editionId);
}

const attributesOf = (attributes: unknown) => {
  const found = read(JSON.stringify({ attributes }));
  return found === null || typeof found === "string" ? [] : found.attributes;
};

describe("a token's document", () => {
  it("is read as marketplaces write it", () => {
    const document = {
      name: "Ape #1",
      description: "Line one\r\nline two",
      image: "ipfs://bafy/1.PNG",
      animation_url: "https://example.com/1.mp4",
      attributes: [
        { trait_type: " Hat ", value: " Beanie" },
        { trait_type: "Level", value: "5", display_type: "number" },
        { trait_type: "Rank", value: "5" },
        { trait_type: "Legendary", value: true },
      ],
    };
    expect(read(JSON.stringify(document))).toEqual({
      name: "Ape #1",
      description: "Line one\nline two",
      image: "ipfs://bafy/1.PNG",
      animation: "https://example.com/1.mp4",
      contentType: "image/png",
      attributes: [
        { trait_type: "Hat", value: "Beanie" },
        { trait_type: "Level", value: 5, display_type: "number" },
        { trait_type: "Rank", value: "5" },
        { trait_type: "Legendary", value: "true" },
      ],
    });
  });

  it("of an edition is shared by all ids", () => {
    const found = read(JSON.stringify({ image: "https://example.com/{id}.svg" }), 255n);
    expect(found).toMatchObject({
      image: `https://example.com/${"ff".padStart(64, "0")}.svg`,
      contentType: "image/svg+xml",
    });
  });

  it("that draws its picture itself becomes a data URI", () => {
    const svg = "<svg xmlns='http://www.w3.org/2000/svg'/>";
    const image = `data:image/svg+xml;base64,${Buffer.from(svg).toString("base64")}`;
    for (const document of [{ image_data: svg }, { image: svg }]) {
      expect(read(JSON.stringify(document))).toMatchObject({ image, contentType: "image/svg+xml" });
    }
  });

  it.each([
    ["<!doctype html><title>404</title>", "the document is HTML or XML, not JSON"],
    ["", "the document is not JSON"],
    ["{'name': 1}", "the document is not JSON"],
    ['["name"]', "the document is not a JSON object"],
    ["null", "the document is not a JSON object"],
    ["[".repeat(500_000), "the document is not JSON"],
    ['{"a":'.repeat(200_000), "the document is not JSON"],
  ])("is refused when it is no JSON object: %.40s", (text, fault) => {
    expect(read(text)).toBe(fault);
  });

  it.each([
    "{}",
    '{"error":"not found"}',
    '{"name":null,"image":{},"description":[],"attributes":"none"}',
    '{"__proto__":{"name":"x"},"constructor":{"name":"y"}}',
    '{"name":" \\u0000 ","image":"javascript:alert(1)","animation_url":"data:text/html,<script>"}',
  ])("without usable members is null: %s", (text) => {
    expect(read(text)).toBeNull();
  });

  it("may be nested as deeply as it likes", () => {
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    expect(
      read(`{"name":"x","attributes":[${deep},{"trait_type":"A","value":${deep}}]}`),
    ).toMatchObject({ name: "x", attributes: [] });
  });

  it("loses NUL, control characters, half characters and bytes that are no UTF-8", () => {
    expect(read('{"name":"a\\u0000b\\ud800c","description":"d\\u0007\\ne"}')).toMatchObject({
      name: "a b\ufffdc",
      description: "d \ne",
    });
    const bytes = Buffer.concat([
      Buffer.from('{"name":"A'),
      Buffer.from([0xff]),
      Buffer.from('B"}'),
    ]);
    expect(read(bytes)).toMatchObject({ name: "A\ufffdB" });
  });
});

describe("attributes", () => {
  it("without a trait, or whose value is neither text nor number, are left out", () => {
    const entries = [
      { value: "no trait" },
      { trait_type: "", value: "x" },
      { trait_type: "null", value: null },
      { trait_type: "object", value: {} },
      { trait_type: "array", value: [1] },
      { trait_type: { a: 1 }, value: "x" },
      "text",
      null,
      [["A", "B"]],
      { trait_type: "__proto__", value: "kept" },
      { trait_type: 7, value: 0 },
    ];
    expect(attributesOf(entries)).toEqual([
      { trait_type: "__proto__", value: "kept" },
      { trait_type: "7", value: 0 },
    ]);
  });

  it("are taken once where repeated, and all where a trait has several values", () => {
    const entries = ["Red", "Blue", "Red "].map((value) => ({ trait_type: "Color", value }));
    expect(attributesOf(entries).map(({ value }) => value)).toEqual(["Red", "Blue"]);
  });

  it("may be an object of trait to value", () => {
    expect(attributesOf({ Hat: "Beanie", Level: 5, Deep: {} })).toEqual([
      { trait_type: "Hat", value: "Beanie" },
      { trait_type: "Level", value: 5 },
    ]);
  });

  it("are at most 200, each cut to its limit", () => {
    const entries = Array.from({ length: 1_000 }, (_, index) => ({
      trait_type: `${index}`.padEnd(5_000, "t"),
      value: "💎".repeat(5_000),
      display_type: "d".repeat(5_000),
    }));
    const kept = attributesOf(entries);
    expect(kept).toHaveLength(200);
    for (const { trait_type, value, display_type } of kept) {
      expect([trait_type.length, [...`${value}`].length, display_type?.length]).toEqual([
        128, 256, 40,
      ]);
    }
  });

  it("are no numbers that JSON cannot represent", () => {
    expect(
      read('{"attributes":[{"trait_type":"A","value":1e999},{"trait_type":"B","value":-0}]}'),
    ).toMatchObject({
      attributes: [{ trait_type: "B", value: 0 }],
    });
  });
});

describe("whatever a document holds", () => {
  const hostile = fc.string({ unit: "binary", maxLength: 400 });
  const anyJson = fc.dictionary(
    fc.oneof(
      hostile,
      fc.constantFrom("name", "image", "attributes", "external_link", "twitter", "__proto__"),
    ),
    fc.oneof(
      fc.jsonValue(),
      hostile,
      fc.array(fc.dictionary(fc.constantFrom("trait_type", "value"), fc.jsonValue())),
    ),
  );

  it("parsed metadata can be stored, and parsing it again changes nothing", () => {
    fc.assert(
      fc.property(anyJson, (document) => {
        for (const parse of [parseTokenMetadata, parseContractMetadata]) {
          const kept = parse(JSON.parse(JSON.stringify(document)));
          const text = JSON.stringify(kept);
          expect(text).not.toMatch(/\\u0000|\\ud[89a-f]/i);
          expect(JSON.parse(text)).toEqual(kept);
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe("a contract's document", () => {
  it("has its image and links, without invalid links", () => {
    const document = {
      name: "Apes",
      image: `Qm${"a".repeat(44)}`,
      banner_image: "https://example.com/b.png",
      external_link: "https://apes.example",
      twitter: "@apes",
      discord: "javascript:alert(1)",
    };
    expect(parseContractMetadata(document)).toEqual({
      name: "Apes",
      description: null,
      image: `ipfs://Qm${"a".repeat(44)}`,
      banner: "https://example.com/b.png",
      website: "https://apes.example/",
      twitter: "https://x.com/apes",
      discord: null,
    });
  });

  it("says what of it is left out for a limit", () => {
    const long = "x".repeat(3_000);
    const found = parseContractMetadata({
      name: long,
      description: "a",
      image: `https://example.com/${long}`,
      image_url: "https://example.com/a.png",
      banner: { url: `ipfs://${long}` },
      external_link: `https://example.com/${long}`,
      twitter: `https://x.com/${long}`,
      discord: `https://discord.example.com/${long}`,
    });
    expect(found?.image).toBe("https://example.com/a.png");
    const left = ["image", "banner", "website", "twitter", "discord"];
    expect(found?.issue?.split("; ")).toEqual([
      "name cut to 256 characters",
      ...left.map((what) => `${what} left out: longer than 2048 characters`),
    ]);
  });
});

describe("a stranger's link", () => {
  const linkOf = (external_link: string) =>
    parseContractMetadata({ name: "x", external_link, image: external_link });

  it.each([
    "https://opensea.io@evil.example/",
    "https://user:secret@evil.example/",
    "http://127.0.0.1/",
    "http://2130706433/",
    "http://0x7f.1/",
    "http://192.168.0.1/reboot",
    "http://[::1]/",
    "http://localhost:8080/",
    "http://router.local/",
    "http://metadata.google.internal/",
    "http://intranet/",
  ])("%s is refused, as page and as media", (link) => {
    expect(linkOf(link)).toMatchObject({ website: null, image: null });
  });

  it("is the address that a browser opens", () => {
    expect(linkOf("HTTPS://Apes.Example/a b?c=<d>")).toMatchObject({
      website: "https://apes.example/a%20b?c=%3Cd%3E",
    });
    expect(linkOf("https://аpple.example")).toMatchObject({
      website: "https://xn--pple-43d.example/",
    });
  });

  it("and its texts have no marks that reverse what is shown", () => {
    expect(linkOf("https://apes.example/\u202egpj.exe")).toMatchObject({
      website: "https://apes.example/gpj.exe",
    });
    expect(read('{"name":"Ape \u202e#1\u2066"}')).toMatchObject({ name: "Ape #1" });
  });
});
