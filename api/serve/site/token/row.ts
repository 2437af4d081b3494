import type { z } from "zod";
import type { Token } from "../../views/token.ts";

export type TokenRow = z.output<typeof Token>;
