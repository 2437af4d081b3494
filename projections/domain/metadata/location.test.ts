import { describe, expect, it } from "vitest";
import { locate, substituteId, tokenUrisOf } from "./location.ts";

const cid = `Qm${"a".repeat(44)}`;
const bafy = `bafy${"b".repeat(55)}`;

const named = "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG";
const version1 = "bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi";

describe("content behind any gateway", () => {
  it.each([
    // Case 20.
    [`https://${version1}.ipfs.nftstorage.link/1.json`, `ipfs/${version1}/1.json`],
    [`https://ipfs.io/ipfs/ipfs/${named}/1.json`, `ipfs/${named}/1.json`],
    [`https://ipfs.io/ipfs/ipfs://${named}/1.json`, `ipfs/${named}/1.json`],
    // Its kind.
    [`https://ipfs.io/ipfs/ipfs%3A%2F%2F${named}/1.json`, `ipfs/${named}/1.json`],
    [`HTTPS://IPFS.IO/IPFS/${named}`, `ipfs/${named}`],
    [`http://127.0.0.1:8080/ipfs/${named}/a b`, `ipfs/${named}/a b`],
    [`https://app.example/api/ipfs/${named}?filename=1.json`, `ipfs/${named}?filename=1.json`],
    [`https://ipfs.io/ipfs/${named}/Ape #1.png`, `ipfs/${named}/Ape #1.png`],
    [`https://ipfs.io/ipfs/${named}/Who?.png`, `ipfs/${named}/Who?.png`],
    [`https://${version1.toUpperCase()}.ipfs.dweb.link:8080`, `ipfs/${version1}`],
    [`https://${named}.ipfs.dweb.link/1`, `ipfs/${named}/1`],
    ["https://en-wikipedia--on--ipfs-org.ipns.dweb.link/a", "ipns/en.wikipedia-on-ipfs.org/a"],
    ["https://ipfs.io/ipns/docs.ipfs.tech/a", "ipns/docs.ipfs.tech/a"],
    [`https://node.example:5001/api/v0/cat?arg=${named}/1`, `ipfs/${named}/1`],
    [`https://gateway.example/${named}/1.json`, `ipfs/${named}/1.json`],
    [`https://${version1}.gateway.example/1.json`, `ipfs/${version1}/1.json`],
  ])("is also found in %s", (uri, path) => {
    expect(locate(uri)).toMatchObject({ kind: "web", content: { kind: "ipfs", path } });
  });

  it.each([
    [`ipfs:/${named}/1`, `ipfs/${named}/1`],
    [`ipfs:${named}/1`, `ipfs/${named}/1`],
    [`ipfs:///ipfs/${named}/1`, `ipfs/${named}/1`],
    [`Ipfs://ipfs/ipfs/${named}`, `ipfs/${named}`],
    [`ipfs://ipfs://${named}`, `ipfs/${named}`],
    [`ipfs://https://ipfs.io/ipfs/${named}/1`, `ipfs/${named}/1`],
    [`ipfs://gateway.pinata.cloud/ipfs/${named}/1`, `ipfs/${named}/1`],
    [`//ipfs/${named}`, `ipfs/${named}`],
    [`"ipfs://${named}/1"\0`, `ipfs/${named}/1`],
    [
      "zdj7WWeQ43G6JJvLWQWZpyHuAMq6uYWRjkBXFad11vE2LHhQ7/1",
      "ipfs/zdj7WWeQ43G6JJvLWQWZpyHuAMq6uYWRjkBXFad11vE2LHhQ7/1",
    ],
    [
      "k2jmtxw8rjh1z69c6not3wtdxb0u3urbzhyll1t9jg6ox26dhi5sfi1m",
      "ipfs/k2jmtxw8rjh1z69c6not3wtdxb0u3urbzhyll1t9jg6ox26dhi5sfi1m",
    ],
    ["/ipns/docs.example/1", "ipns/docs.example/1"],
    ["ipfs://ipns/docs.example/1", "ipns/docs.example/1"],
  ])("may be written %s", (uri, path) => {
    expect(locate(uri)).toEqual({ kind: "ipfs", path });
  });

  const id = "Sgmyo7nUqPpVQWUfK72p5yIpd85QQbhGaWAF-I8L6yE";
  it.each([
    [`https://arweave.net/${id}/1.json`, `${id}/1.json`],
    [`http://www.arweave.net/raw/${id}`, id],
    [`https://arweave.net/tx/${id}/data`, id],
    [`https://gateway.irys.xyz/${id}`, id],
    [`https://jie3fi5z2supuvkbmupsxpnj44rcs56okba3qrtjmac7rdyl5mqq.arweave.net/${id}`, id],
    [
      "https://jie3fi5z2supuvkbmupsxpnj44rcs56okba3qrtjmac7rdyl5mqq.arweave.net/1.json",
      `${id}/1.json`,
    ],
  ])("of Arweave is found in %s", (uri, path) => {
    expect(locate(uri)).toMatchObject({ kind: "web", content: { kind: "arweave", path } });
  });

  it.each([`AR://${id}/1`, `ar:${id}/1`, `arweave://${id}/1`, `ar://arweave.net/${id}/1`])(
    "of Arweave may be written %s",
    (uri) => {
      expect(locate(uri)).toEqual({ kind: "arweave", path: `${id}/1` });
    },
  );

  it.each([
    "https://example.com/1.json",
    `https://example.com/tokens/${named}/meta.json`,
    `https://proxy.example/?src=/ipfs/${named}`,
    "https://example.com/ipfs/readme",
    `https://example.com/${id}`,
  ])("is not what %s names", (uri) => {
    expect(locate(uri)).toMatchObject({ kind: "web", content: null, url: new URL(uri) });
  });
});

describe("an address without a scheme", () => {
  it.each([
    [
      "ens-metadata-service.appspot.com/name/0x1",
      "https://ens-metadata-service.appspot.com/name/0x1",
    ],
    ["//api.example.com/1", "https://api.example.com/1"],
    ["api.example.com:8443/1", "https://api.example.com:8443/1"],
  ])("is one of the web: %s", (uri, href) => {
    expect(locate(uri)).toMatchObject({ kind: "web", url: new URL(href) });
  });

  it.each(["1.json", "metadata/1", "localhost/1", "hello world/1"])("needs a host: %s", (uri) => {
    expect(locate(uri)).toBe("the URI is invalid");
  });
});

describe("where a document is", () => {
  it.each([
    [`ipfs://${cid}/1`, `ipfs/${cid}/1`],
    [`ipfs://ipfs/${cid}/1.json`, `ipfs/${cid}/1.json`],
    [`IPFS://${bafy}`, `ipfs/${bafy}`],
    [`/ipfs/${cid}/1`, `ipfs/${cid}/1`],
    [`ipfs/${bafy}/1`, `ipfs/${bafy}/1`],
    [`${cid}/1`, `ipfs/${cid}/1`],
    ["ipns://docs.example/1", "ipns/docs.example/1"],
    [`dweb:/ipfs/${cid}/1`, `ipfs/${cid}/1`],
    [`DWEB://${bafy}/1`, `ipfs/${bafy}/1`],
    [`dweb://IPFS/${bafy}`, `ipfs/${bafy}`],
    [`fs:/ipfs/${cid}`, `ipfs/${cid}`],
    ["dweb:/ipns/docs.example/1", "ipns/docs.example/1"],
    [`\u200b\ufeffipfs://${cid}`, `ipfs/${cid}`],
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
    "dweb:/etc/passwd",
  ])("is nowhere: %j", (uri) => {
    expect(typeof locate(uri)).toBe("string");
  });

  it("of an edition has its id in hex, 64 digits", () => {
    expect(substituteId("https://a/{id}/{id}", 314592n)).toBe(
      `https://a/${"4cce0".padStart(64, "0")}/${"4cce0".padStart(64, "0")}`,
    );
  });
});

describe("`{id}` in a token's URI", () => {
  const hex = "ff".padStart(64, "0");
  const urisOf = (answer: string, standard: 721 | 1155) =>
    tokenUrisOf(answer, 255n, standard).map(({ uri }) => uri);

  it.each([
    // Case 22.
    [`ipfs://${named}/%7Bid%7D.json`, [`ipfs://${named}/${hex}.json`]],
    [
      "ens-metadata-service.appspot.com/name/0x{id}",
      [`ens-metadata-service.appspot.com/name/0x${hex}`],
    ],
    // Its kind.
    ["https://a.example/%7bID%7d", [`https://a.example/${hex}`]],
    ["https://a.example/{ID}", [`https://a.example/${hex}`]],
    ["https://a.example/{ id }", [`https://a.example/${hex}`]],
    ["https://a.example/%7B%20Id%20%7D", [`https://a.example/${hex}`]],
    ["https://a.example/%257Bid%257D", [`https://a.example/${hex}`]],
    ["https://a.example/{name}", ["https://a.example/{name}"]],
  ])("of ERC-1155 is hex: %s", (answer, uris) => {
    expect(urisOf(answer, 1155)).toEqual(uris);
  });

  it.each([
    [`ipfs://${named}/{id}`, [`ipfs://${named}/${hex}`, `ipfs://${named}/255`]],
    [`ipfs://${named}/%7Bid%7D.json`, [`ipfs://${named}/${hex}.json`, `ipfs://${named}/255.json`]],
    ["https://a.example/0x{id}", [`https://a.example/0x${hex}`]],
    ["https://a.example/7", ["https://a.example/7"]],
    ['{"name":"{id}"}', ['{"name":"{id}"}']],
  ])("of ERC-721 is hex, else decimal: %s", (answer, uris) => {
    expect(urisOf(answer, 721)).toEqual(uris);
  });
});
