import { defaultGateways } from "#api/v1/media-links.ts";
import { setting, urlList, urlOf } from "./setting.ts";

const urlExpectation = "an http or https URL";

/** Gateways that this service fetches from, and those that its links point to. */
export const gatewaySettings = {
  IPFS_GATEWAYS: setting(
    urlList("http:", "https:").default(["https://ipfs.io", "https://dweb.link"]),
    {
      meaning: "gateways for ipfs:// documents, tried in order",
      expectation: "http or https URLs, comma-separated",
      example: "http://127.0.0.1:8080,https://ipfs.io",
      fallback: "https://ipfs.io, https://dweb.link",
    },
  ),
  ARWEAVE_GATEWAY: setting(urlOf("http:", "https:").default("https://arweave.net"), {
    meaning: "gateway for ar:// documents",
    expectation: urlExpectation,
    example: "https://arweave.net",
  }),
  PUBLIC_IPFS_GATEWAY: setting(urlOf("http:", "https:").default(defaultGateways.ipfsGateway), {
    meaning: "gateway that links to ipfs:// images in responses point to; callers must reach it",
    expectation: urlExpectation,
    example: "https://ipfs.example.com",
  }),
  PUBLIC_ARWEAVE_GATEWAY: setting(
    urlOf("http:", "https:").default(defaultGateways.arweaveGateway),
    {
      meaning: "the same for ar:// images",
      expectation: urlExpectation,
      example: "https://arweave.example.com",
    },
  ),
};
