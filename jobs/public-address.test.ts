import { describe, expect, it } from "vitest";
import { isPublicAddress, urlRefusalReason } from "./public-address.ts";

describe("an address of the public internet", () => {
  it.each([
    "1.1.1.1",
    "8.8.8.8",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.0",
    "169.253.255.255",
    "172.15.255.255",
    "172.32.0.0",
    "192.167.255.255",
    "192.169.0.0",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "2606:4700:4700::1111",
    "2001:4860:4860::8888",
    "2a00::1",
    "3fff:1000::1",
  ])("is %s", (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each([
    "0.0.0.0",
    "0.255.255.255",
    "10.0.0.0",
    "10.255.255.255",
    "100.64.0.0",
    "100.127.255.255",
    "127.0.0.1",
    "127.255.255.255",
    "169.254.0.1",
    "169.254.169.254",
    "172.16.0.0",
    "172.31.255.255",
    "192.0.0.1",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.0.0",
    "192.168.255.255",
    "198.18.0.0",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::8.8.8.8",
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "::ffff:0:8.8.8.8",
    "64:ff9b::7f00:1",
    "64:ff9b::808:808",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:2::1",
    "2001:10::1",
    "2001:20::1",
    "2001:db8::1",
    "2002:7f00:1::1",
    "2002:808:808::1",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd12:3456::1",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "ff02::1",
    "ffff::1",
    "2606:4700::1%eth0",
    "localhost",
    "",
    "1.2.3",
  ])("is not %s", (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});

describe("a URL that a stranger named", () => {
  it.each([
    "https://example.com/1",
    "https://example.com:443/1",
    "https://example.com:8443/1",
    "https://1.1.1.1/",
    "https://[2606:4700:4700::1111]/",
  ])("may be asked: %s", (url) => {
    expect(urlRefusalReason(new URL(url))).toBeNull();
  });

  it.each([
    "http://example.com/",
    "file:///etc/passwd",
    "ftp://example.com/",
    "gopher://example.com/",
    "https://user@example.com/",
    "https://user:password@example.com/",
    "https://:password@example.com/",
    "https://example.com:22/",
    "https://example.com:5432/",
    "https://example.com:80/",
    "https://127.0.0.1/",
    "https://127.1/",
    "https://2130706433/",
    "https://0x7f000001/",
    "https://0x7f.1/",
    "https://0177.0.0.1/",
    "https://017700000001/",
    "https://127.0.0.1./",
    "https://①②⑦.⓪.⓪.①/",
    "https://0/",
    "https://10.1/",
    "https://169.254.169.254/latest/meta-data/",
    "https://2852039166/",
    "https://0xa9fea9fe/",
    "https://[::1]/",
    "https://[0:0:0:0:0:0:0:1]/",
    "https://[::]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[::ffff:7f00:1]/",
    "https://[::127.0.0.1]/",
    "https://[64:ff9b::7f00:1]/",
    "https://[2002:7f00:1::]/",
    "https://[2001:0:4136:e378::]/",
    "https://[fe80::1]/",
    "https://[fc00::1]/",
    "https://[ff02::1]/",
  ])("is not asked: %s", (url) => {
    expect(urlRefusalReason(new URL(url))).toEqual(expect.any(String));
  });

  it.each(["https://[fe80::1%25eth0]/", "https://[fe80::1%eth0]/", "https://256.1.1.1/"])(
    "is none: %s",
    (url) => {
      expect(URL.canParse(url)).toBe(false);
    },
  );
});
