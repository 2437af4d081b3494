import { describe, expect, it } from "vitest";
import { callerIp, groupOf, networkOf } from "./request.ts";

describe("the address that a caller is counted by", () => {
  it.each([
    ["203.0.113.9", "203.0.113.9"],
    ["203.0.113.9:51234", "203.0.113.9"],
    ["::ffff:203.0.113.9", "203.0.113.9"],
    ["::FFFF:cb00:7109", "203.0.113.9"],
    ["0:0:0:0:0:ffff:203.0.113.9", "203.0.113.9"],
    ["2001:db8:1:2::9", "2001:db8:1:2::/64"],
    ["2001:0DB8:0001:0002:ffff:ffff:ffff:ffff", "2001:db8:1:2::/64"],
    ["[2001:db8:1:2::9]:443", "2001:db8:1:2::/64"],
    ["2001:db8:1:3::9", "2001:db8:1:3::/64"],
    ["2001:db8::1:2:3:4:5", "2001:db8:0:1::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["::ffff:1", "0:0:0:0::/64"],
  ])("of %s is %s", (address, group) => {
    expect(groupOf(address)).toBe(group);
  });

  it.each(["", "unknown", "999.1.1.1", "1.2.3", "example.com", ":::", "1.2.3.4, 5.6.7.8"])(
    "is not found in %j",
    (text) => expect(groupOf(text)).toBeUndefined(),
  );
});

describe("the network that a caller shares with its other addresses", () => {
  it.each([
    ["203.0.113.9", "203.0.113.9"],
    ["2001:db8:1:2::9", "2001:db8:1::/48"],
    ["2001:db8:1:ffff::9", "2001:db8:1::/48"],
    ["2001:db8:2:2::9", "2001:db8:2::/48"],
  ])("of %s is %s", (address, network) => {
    expect(networkOf(groupOf(address) ?? "")).toBe(network);
  });
});

describe("the address that a key is bound to", () => {
  const ipOfRequest = (ip: string | undefined, remoteAddress: string) =>
    callerIp({ ip, socket: { remoteAddress } } as Parameters<typeof callerIp>[0]);

  it("is that of the caller, never that of the proxy which names something else", () => {
    expect(ipOfRequest("203.0.113.9", "10.0.0.1")).toBe("203.0.113.9");
    expect(ipOfRequest("unknown", "10.0.0.1")).toBeNull();
    expect(ipOfRequest(undefined, "10.0.0.1")).toBe("10.0.0.1");
  });
});
