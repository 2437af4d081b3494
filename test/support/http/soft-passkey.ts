import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { z } from "zod";

/** What an answer says that a real authenticator would not, for what a server has to refuse. */
type Changes = {
  readonly origin?: string;
  readonly domain?: string;
  readonly type?: string;
  readonly challenge?: string;
  /** Bits of the flags: 1 present, 4 verified. */
  readonly flags?: number;
  readonly counter?: number;
  readonly id?: string;
  readonly signature?: Buffer;
  readonly format?: string;
};

/** An authenticator in software (WebAuthn level 2 §6) that has one credential, on P-256, and the browser around it. */
export type SoftPasskey = {
  readonly id: string;
  /** The answers to options of `navigator.credentials.create` and `get`, as JSON. */
  create(options: PasskeyOptions, changes?: Changes): string;
  get(options: PasskeyOptions, changes?: Changes): string;
};

const Options = z.object({
  challenge: z.string(),
  rp: z.object({ id: z.string() }).optional(),
  rpId: z.string().optional(),
  allowCredentials: z.array(z.object({ id: z.string() })).optional(),
  excludeCredentials: z.array(z.object({ id: z.string() })).optional(),
});
export type PasskeyOptions = z.output<typeof Options>;

/** The options that a page asks its browser's passkeys by. */
export function passkeyOptionsIn(page: string): PasskeyOptions {
  const text = /data-options="([^"]+)"/.exec(page)?.[1] ?? "null";
  const plain = text.replaceAll(/&#(\d+);/g, (_, code: string) =>
    String.fromCharCode(Number(code)),
  );
  return Options.parse(JSON.parse(plain.replaceAll("&quot;", '"').replaceAll("&amp;", "&")));
}

export function openSoftPasskey(origin: string): SoftPasskey {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const id = randomBytes(16);
  let counter = 0;
  const clientData = (type: string, { challenge }: PasskeyOptions, changes: Changes) =>
    Buffer.from(
      JSON.stringify({
        type: changes.type ?? type,
        challenge: changes.challenge ?? challenge,
        origin: changes.origin ?? origin,
        crossOrigin: false,
      }),
    );
  const answer = (response: Record<string, string>, changes: Changes) => {
    const name = changes.id ?? id.toString("base64url");
    const head = { id: name, rawId: name, type: "public-key", clientExtensionResults: {} };
    return JSON.stringify({ ...head, response });
  };
  const dataOf = (domain: string, flags: number, changes: Changes) => {
    counter += 1;
    const head = Buffer.alloc(5);
    head.writeUInt8(changes.flags ?? flags, 0);
    head.writeUInt32BE(changes.counter ?? counter, 1);
    return Buffer.concat([sha256(changes.domain ?? domain), head]);
  };
  return {
    id: id.toString("base64url"),
    create(options, changes = {}) {
      const { x = "", y = "" } = publicKey.export({ format: "jwk" });
      const key = coseKey(Buffer.from(x, "base64url"), Buffer.from(y, "base64url"));
      const credential = Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, key]);
      const data = Buffer.concat([dataOf(options.rp?.id ?? "", 0x45, changes), credential]);
      const response = {
        clientDataJSON: clientData("webauthn.create", options, changes).toString("base64url"),
        attestationObject: attestation(data, changes.format ?? "none").toString("base64url"),
      };
      return answer(response, changes);
    },
    get(options, changes = {}) {
      const client = clientData("webauthn.get", options, changes);
      const data = dataOf(options.rpId ?? "", 0x05, changes);
      const signed = sign("sha256", Buffer.concat([data, sha256(client)]), privateKey);
      const response = {
        clientDataJSON: client.toString("base64url"),
        authenticatorData: data.toString("base64url"),
        signature: (changes.signature ?? signed).toString("base64url"),
      };
      return answer(response, changes);
    },
  };
}

const sha256 = (data: string | Buffer): Buffer => createHash("sha256").update(data).digest();

/** CBOR of { 1: 2 (EC2), 3: -7 (ES256), -1: 1 (P-256), -2: x, -3: y }: RFC 9053 §7.1. */
const coseKey = (x: Buffer, y: Buffer): Buffer =>
  Buffer.concat([Buffer.from("a5010203262001215820", "hex"), x, Buffer.from("225820", "hex"), y]);

const text = (value: string): Buffer =>
  Buffer.concat([Buffer.from([0x60 + value.length]), Buffer.from(value)]);

/** CBOR of { fmt, attStmt: {}, authData }: WebAuthn level 2 §6.5.4. */
const attestation = (data: Buffer, format: string): Buffer =>
  Buffer.concat([
    ...[Buffer.from([0xa3]), text("fmt"), text(format), text("attStmt"), Buffer.from([0xa0])],
    ...[text("authData"), Buffer.from([0x58, data.length]), data],
  ]);
