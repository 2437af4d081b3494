// SPDX-License-Identifier: MIT
pragma solidity 0.8.24;

import {Strings} from "@openzeppelin/contracts/utils/Strings.sol";

/// Pictures as SVG. A collection has one of four styles, a token's picture follows from its id and what it wears.
library Art {
    using Strings for uint256;

    enum Hat { None, Beanie, TopHat }

    /// At most 1.8 kB.
    function draw(string memory collection, uint256 id, string memory ground, Hat hat)
        internal
        pure
        returns (string memory)
    {
        uint256 seed = uint256(keccak256(abi.encode(collection, id)));
        uint256 style = (uint256(keccak256(bytes(collection))) >> 64) % 4;
        string memory content = style == 0
            ? creature(seed, hat)
            : style == 1 ? hills(seed) : style == 2 ? planets(seed) : tiles(seed);
        return string.concat(
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 96 96"><rect width="96" height="96" fill="',
            ground, '"/>', content, "</svg>"
        );
    }

    function part(uint256 seed, uint256 place, uint256 below) private pure returns (uint256) {
        return (seed >> (place * 8)) % below;
    }

    function text(uint256 number) private pure returns (string memory) {
        return number.toString();
    }

    function hsl(uint256 hue, uint256 saturation, uint256 light) private pure returns (string memory) {
        return string.concat("hsl(", text(hue % 360), " ", text(saturation), "% ", text(light), "%)");
    }

    function circle(uint256 x, uint256 y, uint256 r, string memory fill) private pure returns (string memory) {
        return string.concat(
            '<circle cx="', text(x), '" cy="', text(y), '" r="', text(r), '" fill="', fill, '"/>'
        );
    }

    function path(string memory d, string memory fill) private pure returns (string memory) {
        return string.concat('<path d="', d, '" fill="', fill, '"/>');
    }

    function creature(uint256 seed, Hat hat) private pure returns (string memory) {
        uint256 hue = part(seed, 0, 360);
        string memory skin = hsl(hue, 52, 46);
        string memory body = string.concat(
            ears(seed, skin),
            path("M18 96V54a30 32 0 0 1 60 0V96z", skin),
            path("M30 96V88a18 20 0 0 1 36 0V96z", hsl(hue + 20, 60, 66)),
            circle(26 + part(seed, 9, 6), 76, 3, hsl(hue, 45, 36)),
            circle(66 + part(seed, 10, 6), 70, 4, hsl(hue, 45, 36))
        );
        return string.concat(body, face(seed), wear(hat, hsl(hue + 160, 65, 48)));
    }

    function ears(uint256 seed, string memory skin) private pure returns (string memory) {
        uint256 kind = part(seed, 1, 3);
        if (kind == 0) return string.concat(circle(24, 32, 11, skin), circle(72, 32, 11, skin));
        if (kind == 1) return path("M22 44L16 14 40 30zM74 44L80 14 56 30z", skin);
        return string.concat(
            path("M37 32L28 12l3-2 11 20zM59 32L68 12l-3-2-11 20z", skin),
            circle(29, 10, 5, "#fff3b0"), circle(67, 10, 5, "#fff3b0")
        );
    }

    function face(uint256 seed) private pure returns (string memory) {
        uint256 look = part(seed, 3, 5);
        string memory eyes = part(seed, 2, 5) == 0
            ? string.concat(circle(48, 52, 13, "#fff"), circle(46 + look, 53, 6, "#1c1c28"))
            : string.concat(
                circle(37, 52, 8, "#fff"), circle(59, 52, 8, "#fff"),
                circle(35 + look, 53, 4, "#1c1c28"), circle(57 + look, 53, 4, "#1c1c28")
            );
        string memory mouth = part(seed, 4, 3) == 0
            ? path("M38 69h20a10 9 0 0 1-20 0z", "#5b1a2e")
            : part(seed, 4, 3) == 1
                ? path("M40 70q8 8 16 0l1 2q-9 10-18 0z", "#1c1c28")
                : path("M38 69h20v5H38zM42 74h4v4h-4z", "#fffbe8");
        return string.concat(eyes, mouth);
    }

    function wear(Hat hat, string memory color) private pure returns (string memory) {
        if (hat == Hat.Beanie) {
            return string.concat(
                path("M20 40a28 28 0 0 1 56 0z", color), path("M17 36h62v7H17z", "#fffbe8"), circle(48, 11, 6, "#fffbe8")
            );
        }
        if (hat == Hat.TopHat) return string.concat(path("M30 30V4h36v26h12v6H18v-6z", "#23232f"), path("M30 23h36v7H30z", color));
        return "";
    }

    function hills(uint256 seed) private pure returns (string memory result) {
        uint256 hue = part(seed, 0, 360);
        result = circle(20 + part(seed, 1, 56), 18 + part(seed, 2, 18), 8 + part(seed, 3, 8), hsl(hue + 150, 85, 78));
        for (uint256 i; i < 4; i++) {
            uint256 y = 38 + i * 15;
            result = string.concat(
                result,
                path(
                    string.concat(
                        "M0 ", text(y + part(seed, 5 + i, 14)), "C28 ", text(y - 14 + part(seed, 10 + i, 30)), " 60 ",
                        text(y - 6 + part(seed, 15 + i, 26)), " 96 ", text(y - 5 + part(seed, 20 + i, 14)), "V96H0z"
                    ),
                    hsl(hue + i * 16, 46, 62 - i * 12)
                )
            );
        }
    }

    function planets(uint256 seed) private pure returns (string memory result) {
        uint256 hue = part(seed, 0, 360);
        result = path("M0 0h96v96H0z", hsl(hue, 45, 14));
        for (uint256 i; i < 9; i++) {
            result = string.concat(result, circle(part(seed, i, 96), part(seed, 30 - i, 96), 1, "#ffffffb0"));
        }
        uint256 r = 17 + part(seed, 11, 10);
        result = string.concat(
            result, circle(48, 50, r, hsl(hue + 40, 68, 58)),
            '<ellipse cx="48" cy="50" rx="', text(r + 17), '" ry="', text(5 + part(seed, 12, 6)),
            '" fill="none" stroke="', hsl(hue + 90, 60, 78), '" stroke-width="3" transform="rotate(', text(part(seed, 13, 60)), ' 48 50)"/>'
        );
        return string.concat(
            result, path(string.concat("M", text(48 - r), " 50a", text(r), " ", text(r), " 0 0 1 ", text(2 * r), " 0z"), hsl(hue + 40, 74, 68)),
            circle(12 + part(seed, 14, 14), 14 + part(seed, 15, 16), 4 + part(seed, 16, 4), hsl(hue + 200, 55, 70))
        );
    }

    function tiles(uint256 seed) private pure returns (string memory result) {
        uint256 hue = part(seed, 0, 360);
        string[3] memory colors = [hsl(hue, 62, 42), hsl(hue + 40, 74, 60), hsl(hue + 190, 48, 34)];
        string[4] memory shapes = ["h24a24 24 0 0 1-24 24z", "h24v24a24 24 0 0 1-24-24z", "m24 0v24h-24a24 24 0 0 1 24-24z", "a24 24 0 0 1 24 24h-24z"];
        for (uint256 color; color < 3; color++) {
            string memory d;
            for (uint256 cell; cell < 16; cell++) {
                if (part(seed, cell + 1, 3) != color) continue;
                d = string.concat(d, "M", text(cell % 4 * 24), " ", text(cell / 4 * 24), shapes[part(seed, cell + 12, 4)]);
            }
            result = string.concat(result, path(d, colors[color]));
        }
    }
}
