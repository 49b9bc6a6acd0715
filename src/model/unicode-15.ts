/** Joined over code points that are their own keys, which makes half as many. */
const ranges = `
  378-379 380-383 38b 38d 3a2 530 557-558 58b-590 5c8-5ff 70e 74b-74c 7b2-7bf 7fb-7fc 82e-83f 85c-897 984-9bb
  9c5-9c6 9c9-9ca 9cf-9d6 9d8-9db 9de 9e4-9e5 9ff-a00 a04-a31 a34 a37-a3b a3d a43-a46 a49-a4a a4e-a50 a52-a58 a5d
  a5f-a65 a77-a80 a84-abb ac6 aca ace-adf ae4-af8 b00 b04-b3b b45-b46 b49-b4a b4e-b54 b58-b5b b5e b64-b81 b84-b91
  b96-bbd bc3-bc5 bc9 bce-bd6 bd8-bff c0d-c3b c45 c49 c4e-c54 c57-c5f c64-c76 c8d-cbb cc5 cc9 cce-cd4 cd7-cdf
  ce4-cf0 cf4-cff d0d-d11 d45 d49 d50-d53 d64-d80 d84-dc9 dcb-dce dd5 dd7 de0-df1 df5-e00 e3b-e3e e5c-ea6 ebe-ec7
  ecf-edb ee0-eff f48 f6d-f70 f98 fbd fcd-fff 10c6 10c8-10cc 10ce-10cf 1249-135c 137d-139f 13f6-13ff 169d-16ff
  1716-171e 1737-173f 1754-1771 1774-177f 17de-17ff 181a-187f 18ab-191f 192c-192f 193c-19dd 1a1c-1a1d 1a5f 1a7d-1a7e
  1a8a-1aaf 1acf-1aff 1b4d-1b4f 1b7f 1bf4-1bfb 1c38-1c8f 1cbb-1cbc 1cc8-1ccf 1cfb-1cff 1f16-1f17 1f1e-1f1f 1f46-1f47
  1f4e-1f4f 1f58 1f5a 1f5c 1f5e 1f7e-1f7f 1fb5 1fc5 1fd4-1fd5 1fdc 1ff0-1ff1 1ff5 1fff 2065 2072-2073 208f 209d-209f
  20c1-20cf 20f1-20ff 218c-218f 2427-245f 2b74-2b96 2cf4-2d6e 2d71-2d7e 2d97-2ddf 2e5e-2e9a 2ef4-2eff 2fd6-2fff 3040
  3097-3098 3100-3130 318f 31e4-31ef 321f a48d-a63f a6f8-a6ff a7cb-a7cf a7d2-a7d4 a7da-a7f1 a82d-a87f a8c6-a8df
  a954-a97f a9ce-a9dd a9ff aa37-aa3f aa4e-aa5b aac3-aada aaf7-ab2f ab6c-ab6f abee-abff d7a4-d7ff fa6e-fa6f fada-faff
  fb07-fb12 fb18-fb1c fb37 fb3d fb3f fb42 fb45 fbc3-fbd2 fd90-fd91 fdc8-fdef fe1a-fe1f fe53 fe67 fe6c-fe6f fe75
  fefd-fefe ff00 ffbf-ffc1 ffc8-ffc9 ffd0-ffd1 ffd8-ffd9 ffdd-ffdf ffe7 ffef-101cf 101fe-102df 102fc-1034f
  1037b-103ff 1049e-104af 104d4-1056e 1057b 1058b 10593 10596-1077f 10786 107b1 107bb-109d1 10a04 10a07-10a0b
  10a14-10a37 10a3b-10a3e 10a49-10abf 10ae7-10c7f 10cb3-10cf9 10d28-10eaa 10eae-10efc 10f28-10f2f 10f5a-10f6f
  10f8a-10fff 1104e-11051 11076-1107e 110c3-110ff 11135 11148-1114f 11177-1117f 111e0-11212 11242-112af 112eb-112ff
  11304-1133a 11345-11346 11349-1134a 1134e-11356 11358-1135c 11364-11365 1136d-1136f 11375-113ff 1145c 11462-1147f
  114c8-1157f 115b6-115b7 115de-115ff 11645-1167f 116ba-1171c 1172c-117ff 1183c-1189f 118f3-11917 11936 11939-1193a
  11947-119a9 119d8-119d9 119e5-119ff 11a48-11a4f 11aa3-11c09 11c37 11c46-11c91 11ca8 11cb7-11d0a 11d37-11d39 11d3b
  11d3e 11d48-11d69 11d8f 11d92 11d99-11edf 11ef9-11eff 11f11 11f3b-11f3d 11f5a-12fff 13456-16aef 16af6-16aff
  16b46-16e3f 16e9b-16f4e 16f88-16f8e 16fa0-16fdf 16fe5-16fef 16ff2-1bc9b 1bca4-1ceff 1cf2e-1cf2f 1cf47-1d128
  1d1eb-1d1ff 1d246-1d3ff 1d455 1d49d 1d4a0-1d4a1 1d4a3-1d4a4 1d4a7-1d4a8 1d4ad 1d4ba 1d4bc 1d4c4 1d506 1d50b-1d50c
  1d515 1d51d 1d53a 1d53f 1d545 1d547-1d549 1d551 1d6a6-1d6a7 1d7cc-1d7cd 1da8c-1da9a 1daa0 1dab0-1dfff 1e007
  1e019-1e01a 1e022 1e025 1e02b-1e02f 1e06e-1e08e 1e090-1e12f 1e13e-1e28f 1e2af-1e2bf 1e2fa-1e4cf 1e4fa-1e8c6
  1e8d7-1e8ff 1e94c-1edff 1ee04 1ee20 1ee23 1ee25-1ee26 1ee28 1ee33 1ee38 1ee3a 1ee3c-1ee41 1ee43-1ee46 1ee48 1ee4a
  1ee4c 1ee50 1ee53 1ee55-1ee56 1ee58 1ee5a 1ee5c 1ee5e 1ee60 1ee63 1ee65-1ee66 1ee6b 1ee73 1ee78 1ee7d 1ee7f 1ee8a
  1ee9c-1eea0 1eea4 1eeaa 1eebc-1f0ff 1f1ae-1f1e5 1f203-1f20f 1f23c-1f23f 1f249-1f24f 1f252-1fbef 1fbfa-2f7ff
  2fa1e-e00ff e01f0-10ffff
`;

/** By code point: 1 for those that Unicode 15.0 leaves unassigned, and for some that are their own keys. */
const unassigned = new Uint8Array(0x11_00_00);
for (const range of ranges.trim().split(/\s+/)) {
  const [first = 0, last = first] = range.split('-').map((hexadecimal) => Number.parseInt(hexadecimal, 16));
  unassigned.fill(1, first, last + 1);
}

export const isUnassigned = (character: string): boolean => unassigned[character.codePointAt(0) ?? 0] === 1;
