import { describe, expect, it } from "vitest";
import { locate, substituteId } from "./location.ts";

const cid = `Qm${"a".repeat(44)}`;
const bafy = `bafy${"b".repeat(55)}`;

describe("where a document is", () => {
  it.each([
    [`ipfs://${cid}/1`, `ipfs/${cid}/1`],
    [`ipfs://ipfs/${cid}/1.json`, `ipfs/${cid}/1.json`],
    [`IPFS://${bafy}`, `ipfs/${bafy}`],
    [`/ipfs/${cid}/1`, `ipfs/${cid}/1`],
    [`ipfs/${bafy}/1`, `ipfs/${bafy}/1`],
    [`${cid}/1`, `ipfs/${cid}/1`],
    ["ipns://docs.example/1", "ipns/docs.example/1"],
  ])("%s is behind an ipfs gateway", (uri, path) => {
    expect(locate(uri)).toEqual({ kind: "ipfs", path });
  });

  it("of Arweave is a transaction's id", () => {
    const id = "a_-".padEnd(43, "x");
    expect(locate(`ar://${id}/1.json`)).toEqual({ kind: "arweave", path: `${id}/1.json` });
    expect(locate("ar://short")).toBe("ar: is not fetched");
  });

  it("on a gateway of another's is the same content behind ours", () => {
    expect(locate(`https://gone.example/ipfs/${cid}/1`)).toMatchObject({
      kind: "web",
      ipfsPath: `ipfs/${cid}/1`,
    });
    expect(locate("https://example.com/1")).toMatchObject({ kind: "web", ipfsPath: null });
  });

  it.each([
    ["data:application/json;base64,eyJhIjoxfQ==", "application/json", '{"a":1}'],
    ["data:application/json;utf8,%7B%22a%22%3A1%7D", "application/json", '{"a":1}'],
    ['data:application/json;utf8,{"a":"#1 100% é"}', "application/json", '{"a":"#1 100% é"}'],
    ["data:application/json;charset=utf-8;base64,eyJhIjoxfQ", "application/json", '{"a":1}'],
    ["data:application/json;base64,eyJhIjoxfQ%3D%3D", "application/json", '{"a":1}'],
    ["DATA:image/svg+xml,%3Csvg/%3E", "image/svg+xml", "<svg/>"],
    ["data:,x", "text/plain", "x"],
    ['{"a":1}', "application/json", '{"a":1}'],
  ])("may be in the URI: %s", (uri, mediaType, text) => {
    const location = locate(uri);
    expect(location).toMatchObject({ kind: "data", mediaType });
    if (typeof location === "object" && location.kind === "data") {
      expect(Buffer.from(location.bytes).toString()).toBe(text);
    }
  });

  it.each([
    "",
    "  ",
    "hello",
    "data:application/json",
    "data:x;base64,",
    "file:///etc/passwd",
    "ftp://a/b",
    "javascript:1",
  ])("is nowhere: %j", (uri) => {
    expect(typeof locate(uri)).toBe("string");
  });

  it("of an edition has its id in hex, 64 digits", () => {
    expect(substituteId("https://a/{id}/{id}", 314592n)).toBe(
      `https://a/${"4cce0".padStart(64, "0")}/${"4cce0".padStart(64, "0")}`,
    );
  });
});
