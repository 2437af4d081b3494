import type { RequestListener } from "node:http";
import { type AddressInfo, createServer as createSocketServer } from "node:net";
import * as zlib from "node:zlib";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type DocumentFetcher, openDocumentFetcher } from "#jobs/metadata/document-fetcher.ts";
import { publicLookup } from "#jobs/public-address.ts";
import { type DocumentHost, openDocumentHost } from "#test/support/http/document-host.ts";

const { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } = zlib;

let allowed: DocumentHost;
let first: DocumentHost;
let second: DocumentHost;
let fetcher: DocumentFetcher;
let now = 0;

beforeAll(async () => {
  [allowed, first, second] = await Promise.all([
    openDocumentHost(),
    openDocumentHost(),
    openDocumentHost(),
  ]);
});
afterAll(() => Promise.all([allowed.close(), first.close(), second.close()]));

beforeEach(() => {
  now = 0;
  for (const host of [allowed, first, second]) {
    host.asked.length = 0;
    host.answers((_request, response) => response.writeHead(404).end());
  }
  fetcher = openDocumentFetcher({
    ipfsGateways: [first.origin, `${second.origin}/ipfs/`],
    arweaveGateway: second.origin,
    limits: { timeoutMs: 400, bytes: 1_000 },
    resolve: async (hostname) => resolved.get(hostname) ?? [],
    now: () => now,
    allowedOrigins: [allowed.origin],
  });
});
afterEach(() => fetcher.close());

const never = new AbortController().signal;
const cid = `Qm${"a".repeat(44)}`;
const resolved = new Map(
  Object.entries({
    "private.example": ["10.0.0.1"],
    "loopback.example": ["127.0.0.1"],
    "mixed.example": ["1.1.1.1", "169.254.169.254"],
    "mapped.example": ["::ffff:127.0.0.1"],
    "six.example": ["fd00::1"],
  }).map(([name, addresses]) => [
    name,
    addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
  ]),
);

async function fetched(uri: string): Promise<string | undefined> {
  const found = await fetcher.fetchDocument(uri, never);
  if (found === undefined) return undefined;
  return "fault" in found ? found.fault : Buffer.from(found.bytes).toString();
}

const says =
  (text: string, headers: Record<string, string> = {}): RequestListener =>
  (_request, response) =>
    response.writeHead(200, headers).end(text);

const redirects =
  (location: string): RequestListener =>
  (_request, response) =>
    response.writeHead(302, { location }).end("elsewhere");

describe("a document", () => {
  it("is asked of each gateway in turn until one has it", async () => {
    second.answers(says("{}"));
    expect(await fetched(`ipfs://${cid}/a%20b`)).toBe("{}");
    expect(await fetched(`https://127.0.0.1/ipfs/${cid}/2`)).toBe("{}");
    expect(await fetched(`ar://${"a".repeat(43)}`)).toBe("{}");
    expect([first.asked, second.asked]).toEqual([
      [`/ipfs/${cid}/a%20b`, `/ipfs/${cid}/2`],
      [`/ipfs/${cid}/a%20b`, `/ipfs/${cid}/2`, `/${"a".repeat(43)}`],
    ]);
  });

  it("that no gateway has is reported with each error", async () => {
    expect(await fetched(`ipfs://${cid}`)).toBe(
      `127.0.0.1:${first.port}: HTTP 404; 127.0.0.1:${second.port}: HTTP 404`,
    );
  });

  it("never leads out of a gateway's own path", async () => {
    for (const path of [
      "../api/v0/id",
      "%2e%2e/api/v0/id",
      "x/../../api",
      "..\\api",
      "ipfs/../../x",
    ]) {
      expect(await fetched(`ipfs://${path}`)).toBe("no gateway for the URI");
    }
    expect([...first.asked, ...second.asked]).toEqual([]);
  });

  it("may be in the URI, but not be larger than one elsewhere", async () => {
    expect(await fetched("data:application/json,{}")).toBe("{}");
    expect(await fetched(`data:application/json,${"x".repeat(1_001)}`)).toMatch(/larger/);
  });

  it("that is a picture is not read", async () => {
    allowed.answers(says("x".repeat(5_000), { "content-type": "image/png" }));
    expect(await fetcher.fetchDocument(`${allowed.origin}/1`, never)).toEqual({
      mediaType: "image/png",
      bytes: new Uint8Array(),
    });
  });
});

describe("content in another gateway's address", () => {
  const content = "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG";
  const version1 = "bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi";

  it.each([
    // Case 20, on hosts that nobody reaches.
    [`https://${version1}.ipfs.nftstorage.link/1.json`, `/ipfs/${version1}/1.json`],
    [`https://ipfs.io/ipfs/ipfs/${content}/1.json`, `/ipfs/${content}/1.json`],
    [`https://ipfs.io/ipfs/ipfs://${content}/1.json`, `/ipfs/${content}/1.json`],
    [`http://private.example/ipfs/${content}/Ape #1.json`, `/ipfs/${content}/Ape%20%231.json`],
    [`https://private.example/${content}/1.json`, `/ipfs/${content}/1.json`],
  ])("is asked of our gateways: %s", async (uri, path) => {
    first.answers(says("{}"));
    expect(await fetched(uri)).toBe("{}");
    expect(first.asked).toEqual([path]);
  });

  it("is asked of its own host first, and only once where that is ours", async () => {
    allowed.answers(says("own"));
    expect(await fetched(`${allowed.origin}/tokens/ipfs/${content}/1`)).toBe("own");
    expect(first.asked).toEqual([]);
    await fetched(`${first.origin}/ipfs/${content}`);
    expect(first.asked).toEqual([`/ipfs/${content}`]);
  });

  // Gateways that have closed: case 20.
  it.each([
    ["<!DOCTYPE html><title>For sale</title>", "text/html"],
    ["\ufeff\n <html></html>", "application/json"],
    ["This gateway has closed.", "text/plain; charset=utf-8"],
    ["", "text/html"],
  ])("is asked of the next where a host answers 200 with a page: %j", async (page, type) => {
    allowed.answers(says(page, { "content-type": type }));
    first.answers(says(page, { "content-type": type }));
    second.answers(says('{"name":"x"}', { "content-type": "text/plain" }));
    expect(await fetched(`${allowed.origin}/ipfs/${content}/1`)).toBe('{"name":"x"}');
    expect(await fetched(`dweb:/ipfs/${content}/1`)).toBe('{"name":"x"}');
    second.answers((_request, response) => response.writeHead(404).end());
    expect(await fetched(`ipfs://${content}/1`)).toBe(
      `127.0.0.1:${first.port}: the document is HTML or XML, not JSON; 127.0.0.1:${second.port}: HTTP 404`,
    );
  });

  it("is JSON under any media type", async () => {
    for (const json of ['{"name":"x"}', ' [{"name":"x"}]', '\u200b{"name":"x"}']) {
      first.answers(says(json, { "content-type": "text/html" }));
      expect(await fetched(`ipfs://${content}/1`)).toBe(json);
    }
    expect(second.asked).toEqual([]);
  });

  it("of Arweave likewise", async () => {
    const id = "a".repeat(43);
    second.answers(says("{}"));
    expect(await fetched(`https://gone.arweave.dev/${id}/1`)).toBe("{}");
    expect(second.asked).toEqual([`/${id}/1`]);
  });
});

describe("a content coding", () => {
  const json = '{"name":"x"}';
  const sends =
    (body: Uint8Array | string, coding?: string | string[]): RequestListener =>
    (_request, response) => {
      if (coding !== undefined) response.setHeader("content-encoding", coding);
      response.end(body);
    };

  // Node knows it from 22.15 on.
  const { zstdCompressSync } = zlib as { zstdCompressSync?: (text: string) => Uint8Array };
  const zstd: [string, Uint8Array][] =
    zstdCompressSync === undefined ? [] : [["zstd", zstdCompressSync(json)]];

  it.each([' {name:"x"}', '{,"a":1}', ';{"a":1}', '"{}"', "<html>", '\ufeff\0{"a":1}'])(
    "is none of text that is not coded: %j",
    async (text) => {
      for (const coding of ["gzip", "deflate", "br", "zstd"]) {
        for (const body of [text, Buffer.from(text, "utf16le")]) {
          allowed.answers(sends(body, coding));
          const found = await fetcher.fetchDocument(`${allowed.origin}/`, never);
          expect(found).toMatchObject({ bytes: Buffer.from(body) });
        }
      }
    },
  );

  it.each<[string | string[] | undefined, Uint8Array | string]>([
    // Case 12.
    ["gzip", gzipSync(json)],
    ["utf-8", json],
    ["Identity", json],
    ["br", brotliCompressSync(json)],
    [undefined, gzipSync(json)],
    // Its kind.
    ["X-GZIP", gzipSync(json)],
    ["deflate", deflateSync(json)],
    ["deflate", deflateRawSync(json)],
    ["gzip, br", brotliCompressSync(gzipSync(json))],
    ["identity,GZIP", gzipSync(json)],
    [["gzip", "br"], brotliCompressSync(gzipSync(json))],
    ["aws-chunked", json],
    ["none", gzipSync(json)],
    ["", json],
    ["gzip", json],
    ["br", json],
    ["gzip", gzipSync(gzipSync(json))],
    [undefined, gzipSync(gzipSync(json))],
    ...zstd,
    // Another coding than the one that is named, or none.
    ...["gzip", "deflate", "br", "zstd", "gzip, br", "br, gzip"].flatMap((coding) =>
      [
        json,
        gzipSync(json),
        gzipSync(gzipSync(json)),
        deflateSync(json),
        ...zstd.map(([, body]) => body),
      ].map((body): [string, Uint8Array | string] => [coding, body]),
    ),
  ])("is undone: %s (%#)", async (coding, body) => {
    allowed.answers(sends(body, coding));
    expect(await fetched(`${allowed.origin}/`)).toBe(json);
  });

  it("is undone within the limit, whatever its size before", async () => {
    const bomb = Buffer.alloc(50_000_000, " ");
    const bombs: [string | undefined, Uint8Array][] = [
      ["gzip", gzipSync(gzipSync(bomb))],
      [undefined, gzipSync(gzipSync(bomb))],
      ["gzip, gzip", gzipSync(gzipSync(bomb))],
      ["br", brotliCompressSync(bomb)],
    ];
    for (const [coding, body] of bombs) {
      allowed.answers(sends(body, coding));
      expect(await fetched(`${allowed.origin}/`)).toMatch(/larger than 1000 bytes/);
    }
  });

  it("that cannot be undone is named", async () => {
    allowed.answers(sends(gzipSync(json).subarray(0, 15), "gzip"));
    expect(await fetched(`${allowed.origin}/`)).toMatch(/content-encoding gzip cannot be undone/);
    allowed.answers(sends(json, Array.from({ length: 50 }, () => "gzip").join()));
    expect(await fetched(`${allowed.origin}/`)).toMatch(/more than 4 content codings/);
  });

  it("is also known in a document within the URI", async () => {
    const uri = `data:application/json;base64,${gzipSync(json).toString("base64")}`;
    expect(await fetched(uri)).toBe(json);
  });

  it("leaves the charset that the host names", async () => {
    allowed.answers((_request, response) => {
      response.setHeader("content-type", "application/json; charset=ISO-8859-1").end(json);
    });
    expect(await fetcher.fetchDocument(`${allowed.origin}/`, never)).toMatchObject({
      mediaType: "application/json",
      charset: "iso-8859-1",
    });
  });
});

describe("no request leaves the public internet", () => {
  it.each([...resolved.keys()])("to %s", async (name) => {
    expect(await fetched(`https://${name}/`)).toContain(`${name} is not on the public internet`);
  });

  it("to a name without an address", async () => {
    expect(await fetched("https://nobody.example/")).toContain("has no address");
  });

  it("also where the address is that of a gateway or of a stand-in under another name", async () => {
    for (const uri of [
      `${first.origin}/x`,
      `http://localhost:${allowed.port}/`,
      `http://127.1:${first.port}`,
    ]) {
      expect(await fetched(uri)).toMatch(/http: is not allowed/);
    }
    expect(await fetched(`https://127.0.0.1:${first.port}/ipfs/x`)).toMatch(/port/);
    expect([...first.asked, ...allowed.asked]).toEqual([]);
  });

  it.each([
    "https://127.0.0.1/",
    "https://2130706433/",
    "https://[::1]/",
    "https://[::ffff:10.0.0.1]/",
    "//169.254.169.254/latest",
    "https://private.example/",
    "https://mixed.example/",
    "http://1.1.1.1/",
    "https://user:pw@1.1.1.1/",
    "https://1.1.1.1:22/",
    "file:///etc/passwd",
    "data:text/plain,x",
  ])("whatever a host redirects to: %s", async (location) => {
    allowed.answers(redirects(location));
    expect(await fetched(`${allowed.origin}/`)).toMatch(
      /not on the public internet|(is|are) not allowed/,
    );
    expect(allowed.asked).toHaveLength(1);
  });

  it("not even where a gateway redirects back to itself", async () => {
    first.answers(redirects(`${first.origin}/ipfs/other`));
    second.answers(redirects("/ipfs/other"));
    expect(await fetched(`ipfs://${cid}`)).toMatch(/http: is not allowed; .*http: is not allowed/);
    expect([first.asked.length, second.asked.length]).toEqual([1, 1]);
  });

  it("connects to the very addresses that were looked at, resolved once", async () => {
    let asked = 0;
    const lookup = publicLookup(async () => {
      asked += 1;
      return [{ address: asked === 1 ? "1.1.1.1" : "127.0.0.1", family: 4 }];
    });
    const look = (options: { all: boolean }) =>
      new Promise((resolve) => {
        lookup("rebinding.example", options, (error, ...found) => resolve(error ?? found));
      });
    expect(await look({ all: true })).toEqual([[{ address: "1.1.1.1", family: 4 }]]);
    expect(await look({ all: false })).toMatchObject({ name: "NotPublic" });
    expect(asked).toBe(2);
  });
});

describe("limits", () => {
  it("three redirects are followed, a fourth is not", async () => {
    const hops =
      (count: number): RequestListener =>
      (request, response) => {
        const hop = Number(request.url?.slice(1));
        if (hop === count) response.end("there");
        else response.writeHead(302, { location: `/${hop + 1}` }).end();
      };
    allowed.answers(hops(3));
    expect(await fetched(`${allowed.origin}/0`)).toBe("there");
    allowed.answers(hops(4));
    expect(await fetched(`${allowed.origin}/0`)).toMatch(/more than 3 redirects/);
    expect(allowed.asked).toHaveLength(8);
  });

  it("a body without end is cut off", async () => {
    let ended = () => {};
    const cut = new Promise<void>((resolve) => {
      ended = resolve;
    });
    allowed.answers((_request, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write("x".repeat(300)), 5);
      response.on("close", () => {
        clearInterval(timer);
        ended();
      });
    });
    expect(await fetched(`${allowed.origin}/`)).toMatch(/larger than 1000 bytes/);
    await cut;
  });

  it("a body that says it is too large is not read", async () => {
    allowed.answers((_request, response) => {
      response.writeHead(200, { "content-length": "1001" }).write("x");
    });
    expect(await fetched(`${allowed.origin}/`)).toMatch(/larger than 1000 bytes/);
  });

  it("neither silence nor a drip lasts longer than the time there is", async () => {
    const begun = performance.now();
    allowed.answers(() => undefined);
    expect(await fetched(`${allowed.origin}/`)).toMatch(/timeout/);
    allowed.answers((_request, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write(" "), 50);
      response.on("close", () => clearInterval(timer));
    });
    expect(await fetched(`${allowed.origin}/`)).toMatch(/timeout/);
    expect(performance.now() - begun).toBeLessThan(60_000);
  });

  it("what is no HTTP, or encoded, is refused", async () => {
    allowed.answers(says("x", { "content-encoding": "gzip" }));
    expect(await fetched(`${allowed.origin}/`)).toMatch(/content-encoding gzip/);

    const noise = createSocketServer((socket) => {
      socket.on("error", () => undefined).end("\0".repeat(100_000));
    });
    await new Promise<void>((resolve) => noise.listen(0, "127.0.0.1", resolve));
    const origin = `http://127.0.0.1:${(noise.address() as AddressInfo).port}`;
    const other = openDocumentFetcher({
      ipfsGateways: [],
      arweaveGateway: origin,
      allowedOrigins: [origin],
    });
    expect(await other.fetchDocument(`${origin}/`, never)).toEqual({ fault: expect.any(String) });
    await other.close();
    noise.close();
  });

  it("no more than four requests are with one host at a time, and others need not wait", async () => {
    const open: (() => void)[] = [];
    let most = 0;
    allowed.answers((_request, response) => {
      open.push(() => response.end("late"));
      most = Math.max(most, open.length);
    });
    second.answers(says("other"));
    const slow = Array.from({ length: 6 }, (_, index) => fetched(`${allowed.origin}/${index}`));
    expect(await fetched(`ar://${"a".repeat(43)}`)).toBe("other");
    await expect.poll(() => open.length).toBe(4);
    expect(allowed.asked).toHaveLength(4);
    allowed.answers(says("late"));
    for (const answer of open) answer();
    expect(await Promise.all(slow)).toEqual(Array.from({ length: 6 }, () => "late"));
    expect(most).toBe(4);
  });

  it("an abort ends what is under way", async () => {
    allowed.answers(() => undefined);
    const ending = new AbortController();
    const under = fetcher.fetchDocument(`${allowed.origin}/`, ending.signal);
    await expect.poll(() => allowed.asked.length).toBe(1);
    ending.abort();
    expect(await under).toHaveProperty("fault");
  });
});

describe("a host", () => {
  it("that does not answer three times is left alone for ever longer", async () => {
    const ask = () => fetched(`${allowed.origin}/`);
    allowed.answers(() => undefined);
    for (let attempt = 0; attempt < 3; attempt++) expect(await ask()).toMatch(/timeout/);
    expect(await ask()).toBeUndefined();
    now += 60_000;
    expect(await ask()).toMatch(/timeout/);
    now += 60_000;
    expect(await ask()).toBeUndefined();
    now += 60_000;
    allowed.answers(says("back"));
    expect([await ask(), await ask()]).toEqual(["back", "back"]);
    expect(allowed.asked).toHaveLength(6);
  });

  it("that is slow for a moment is asked on: what was under way at once is one failure", async () => {
    allowed.answers(() => undefined);
    const ask = (path: number) => fetched(`${allowed.origin}/${path}`);
    const slow = await Promise.all([1, 2, 3, 4].map(ask));
    for (const one of slow) expect(one).toMatch(/timeout/);
    expect(await ask(5)).toMatch(/timeout/);
    allowed.answers(says("back"));
    expect(await ask(6)).toBe("back");
    expect(allowed.asked).toHaveLength(6);
  });

  it("that asks to be left alone is, for as long as it says", async () => {
    first.answers((_request, response) => response.writeHead(429, { "retry-after": "120" }).end());
    second.answers(says("{}"));
    expect(await fetched(`ipfs://${cid}`)).toBe("{}");
    now += 119_000;
    expect(await fetched(`ipfs://${cid}`)).toBe("{}");
    expect(first.asked).toHaveLength(1);
    now += 1_000;
    expect(await fetched(`ipfs://${cid}`)).toBe("{}");
    expect(first.asked).toHaveLength(2);
  });

  it("that is a gateway is asked on, however slow it is about what nobody has", async () => {
    first.answers(() => undefined);
    second.answers(says("{}"));
    for (let attempt = 0; attempt < 4; attempt++) await fetched(`ipfs://${cid}`);
    expect(first.asked).toHaveLength(4);
  });
});
