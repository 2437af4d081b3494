import { collection } from "./collections/collection.ts";
import { listCollections } from "./collections/list.ts";
import { token } from "./collections/token.ts";
import type { V1Route } from "./context.ts";
import { sales } from "./sales.ts";
import { status } from "./status.ts";

/** Every endpoint, in the order they are documented. */
export const routes: readonly V1Route[] = [listCollections, collection, token, sales, status];
