import fc from "fast-check";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import { verifyWebhook, WebhookError, type WebhookRequest } from "./verify-webhook.ts";

const now = new Date("2026-03-10T12:00:00.000Z");
const secretOf = (bytes: Uint8Array) => `whsec_${Buffer.from(bytes).toString("base64")}`;
const secret = secretOf(new Uint8Array(32).fill(7));
const body = JSON.stringify({ type: "sale", timestamp: now.toISOString(), data: { id: "8-1" } });

type Headers = Record<string, string>;
type Signed = { headers: Headers; body: string };

/** As the standard's own library signs it. */
function signed({ id = "8-1", at = now, by = secret, text = body } = {}): Signed {
  return {
    headers: {
      "webhook-id": id,
      "webhook-timestamp": String(Math.floor(at.getTime() / 1_000)),
      "webhook-signature": new StandardWebhook(by).sign(id, at, text),
    },
    body: text,
  };
}

const verify = (request: WebhookRequest, given: string | readonly string[] = secret) =>
  verifyWebhook(request, { secret: given, now: () => now });

async function codeOf(verifying: Promise<unknown>): Promise<string> {
  const error = await verifying.then(
    () => new Error("it was taken"),
    (thrown: unknown) => thrown,
  );
  if (error instanceof WebhookError) return error.code;
  throw error;
}

describe("a request that standardwebhooks signed", () => {
  const texts = fc.string({ unit: "grapheme" });
  const bytes = fc.uint8Array({ minLength: 24, maxLength: 64 });
  const ids = fc.stringMatching(/^[0-9]{1,18}-[0-9]{1,9}$/);

  it("is taken as text and as bytes, whatever its id, secret and content", async () => {
    const law = fc.asyncProperty(ids, bytes, texts, async (id, key, content) => {
      const text = JSON.stringify({ type: "sale", data: { content } });
      const by = secretOf(key);
      const request = signed({ id, by, text });
      const message = { id, type: "sale", data: { content } };
      expect(await verify(request, by)).toEqual(message);
      const { headers } = request;
      expect(await verify({ headers, body: Buffer.from(text) }, by)).toEqual(message);
    });
    await fc.assert(law);
  });

  it("is refused once a byte of its body, id, time or secret is another one", async () => {
    const law = fc.asyncProperty(fc.nat(), fc.constantFrom(..."bits"), async (place, part) => {
      const request = signed();
      const changed = (text: string) => {
        const at = place % text.length;
        return (
          text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ 1) + text.slice(at + 1)
        );
      };
      const { headers } = request;
      const other = secretOf(new Uint8Array(32).fill(7).fill(8, place % 32));
      const forged: Record<string, [Signed, string]> = {
        b: [{ ...request, body: changed(body) }, secret],
        i: [{ ...request, headers: { ...headers, "webhook-id": changed("8-1") } }, secret],
        t: [
          {
            ...request,
            headers: { ...headers, "webhook-timestamp": String(now.getTime() / 1_000 - 1) },
          },
          secret,
        ],
        s: [request, other],
      };
      const [sent, by] = forged[part] ?? [request, secret];
      expect(await codeOf(verify(sent, by))).toBe("bad_signature");
    });
    await fc.assert(law);
  });

  it.each([
    [-300, "taken"],
    [300, "taken"],
    [-301, "too_old"],
    [301, "too_new"],
  ])("%s seconds from now is %s", async (seconds, expected) => {
    const at = new Date(now.getTime() + seconds * 1_000);
    const told = await verify(signed({ at })).then(
      () => "taken",
      ({ code }: WebhookError) => code,
    );
    expect(told).toBe(expected);
  });

  it("has the tolerance that is asked for", async () => {
    const options = { secret, now: () => now, toleranceSeconds: 5 };
    const at = new Date(now.getTime() - 6_000);
    expect(await codeOf(verifyWebhook(signed({ at }), options))).toBe("too_old");
  });

  it("is taken with headers of fetch and of Node, in any case", async () => {
    const { headers, body } = signed();
    const upper = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
    );
    for (const given of [new Headers(headers), upper, { ...headers, cookie: undefined }])
      expect(await verify({ headers: given, body })).toMatchObject({ id: "8-1" });
  });

  it("is taken by one of several secrets, and one of several signatures", async () => {
    const other = secretOf(new Uint8Array(32).fill(9));
    const { headers, body } = signed();
    const both = `v1a,AAAA v1,=== ${signed({ by: other }).headers["webhook-signature"]} ${headers["webhook-signature"]}`;
    const request = { headers: { ...headers, "webhook-signature": both }, body };
    expect(await verify(request)).toMatchObject({ type: "sale" });
    expect(await verify(request, other)).toMatchObject({ type: "sale" });
    expect(await verify(signed({ by: other }), [secret, other])).toMatchObject({ type: "sale" });
  });
});

describe("a request is refused", () => {
  const without = (name: string) => ({ ...signed(), headers: { ...signed().headers, [name]: "" } });

  it.each(["webhook-id", "webhook-timestamp", "webhook-signature"])("without %s", async (name) => {
    expect(await codeOf(verify(without(name)))).toBe("no_headers");
  });

  it.each(["soon", "1e9", "-1", "1.5", "NaN"])("with the time %s", async (time) => {
    const headers = { ...signed().headers, "webhook-timestamp": time };
    expect(await codeOf(verify({ headers, body }))).toBe("no_headers");
  });

  it.each(["", "v1,", "v1a,AAAA", "AAAA", "v1,A", "v2,AAAA", " "])(
    "with the signature '%s'",
    async (signature) => {
      const headers = { ...signed().headers, "webhook-signature": signature };
      expect(await codeOf(verify({ headers, body }))).toMatch(/no_headers|bad_signature/);
    },
  );

  it("with a header that is there twice", async () => {
    const headers = { ...signed().headers, "webhook-id": ["8-1", "8-2"] };
    expect(await codeOf(verify({ headers, body }))).toBe("no_headers");
  });

  it.each(["", "[", "null", "1", "{}"])("with the signed body '%s'", async (text) => {
    expect(await codeOf(verify(signed({ text })))).toBe("bad_body");
  });

  it.each(["", "whsec_", "whsec_?", "not base64"])("with the secret '%s'", async (given) => {
    expect(await codeOf(verify(signed(), given))).toBe("bad_secret");
    expect(await codeOf(verify(signed(), []))).toBe("bad_signature");
  });
});
