import { z } from "zod";
import { isRejection } from "#projections/domain/rejection.ts";
import { text } from "#api/serve/v1/routing/parameters.ts";
import { time } from "#api/serve/views/wire.ts";
import { route } from "../context.ts";

export const login = route(
  {
    method: "post",
    path: "/api/auth/login",
    operationId: "login",
    tag: "Authentication",
    reads: "nothing",
    summary: "A bearer token for an account's e-mail address and client key",
    body: z.strictObject({ email: text(320), client_key: text(200) }),
    data: z.object({
      token: z.string().meta({ description: "For `Authorization: Bearer`." }),
      expires_at: time.meta({ description: "30 days from now; log in again then." }),
    }),
    refuses: { bad_structure: 422, invalid_credentials: 401, rate_limited: 429 },
    isOpen: true,
  },
  async ({ body, address }, { tokens }) => {
    const issued = await tokens.issue({ email: body.email, clientKey: body.client_key }, address);
    if (isRejection(issued)) return issued;
    return { data: { token: issued.token, expires_at: issued.expiresAt.toISOString() } };
  },
);
