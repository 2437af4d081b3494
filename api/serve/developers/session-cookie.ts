import { maxAgeDays } from "#api/accounts/sessions.ts";

/** The cookie with the session token. On https the `__Host-` prefix keeps other hosts of the domain from setting it. */
export function sessionCookie(baseUrl: string) {
  const isSecure = baseUrl.startsWith("https:");
  const name = isSecure ? "__Host-session" : "session";
  const write = (value: string, seconds: number) =>
    [
      `${name}=${value}`,
      "Path=/",
      `Max-Age=${seconds}`,
      "HttpOnly",
      "SameSite=Lax",
      ...(isSecure ? ["Secure"] : []),
    ].join("; ");
  return {
    /** The token of a request; null when it has none, or more than one. */
    read(header: string | undefined): string | null {
      const values = (header ?? "")
        .split(";")
        .map((pair) => pair.trim())
        .filter((pair) => pair.startsWith(`${name}=`))
        .map((pair) => pair.slice(name.length + 1));
      return values.length === 1 ? (values[0] ?? null) : null;
    },
    keep: (token: string) => write(token, maxAgeDays * 86_400),
    forget: () => write("", 0),
  };
}

export type SessionCookie = ReturnType<typeof sessionCookie>;
