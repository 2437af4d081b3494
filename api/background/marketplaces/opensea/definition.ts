import type { PartnerDefinition } from "../partner-definition.ts";
import { openOpensea } from "./client.ts";

export const opensea: PartnerDefinition = {
  api: "OpenSea (API v2)",
  exampleUrl: "https://api.opensea.io",
  exampleStreamUrl: "wss://stream-api.opensea.io/socket/websocket",
  open: ({ streamUrl, ...config }, timeouts) => {
    const stream = streamUrl === undefined ? undefined : { url: streamUrl };
    return openOpensea({ ...config, stream, timeouts });
  },
};
