const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** The secret of the second factor that a page shows, as an authenticator program reads it. */
export function totpSecretIn(page: string): Buffer {
  const text = /id="totp-secret">([A-Z2-7]+)</.exec(page)?.[1] ?? "";
  const bits = [...text].map((one) => alphabet.indexOf(one).toString(2).padStart(5, "0")).join("");
  const bytes = bits.match(/.{8}/g) ?? [];
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)));
}
