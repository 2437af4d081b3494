import type { z } from "zod";
import type { Token } from "#api/serve/views/token.ts";

export type TokenRow = z.output<typeof Token>;
