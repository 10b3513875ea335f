/**
 * The named character references that programs write: those of HTML 4, and those of HTML 5 for the
 * characters up to U+00FF. Each code point in hexadecimal, with its names.
 */
const TABLE = `
9:Tab a:NewLine 21:excl 22:QUOT,quot 23:num 24:dollar 25:percnt 26:AMP,amp 27:apos 28:lpar
29:rpar 2a:ast,midast 2b:plus 2c:comma 2e:period 2f:sol 3a:colon 3b:semi 3c:LT,lt 3d:equals
3e:GT,gt 3f:quest 40:commat 5b:lbrack,lsqb 5c:bsol 5d:rbrack,rsqb 5e:Hat 5f:UnderBar,lowbar
60:grave 7b:lbrace,lcub 7c:verbar,vert 7d:rbrace,rcub a0:nbsp a1:iexcl a2:cent a3:pound
a4:curren a5:yen a6:brvbar a7:sect a8:Dot,die,uml a9:COPY,copy aa:ordf ab:laquo ac:not
ad:shy ae:REG,circledR,reg af:macr,strns b0:deg b1:plusmn,pm b2:sup2 b3:sup3 b4:acute
b5:micro b6:para b7:middot b8:Cedilla,cedil b9:sup1 ba:ordm bb:raquo bc:frac14
bd:frac12,half be:frac34 bf:iquest c0:Agrave c1:Aacute c2:Acirc c3:Atilde c4:Auml
c5:Aring,angst c6:AElig c7:Ccedil c8:Egrave c9:Eacute ca:Ecirc cb:Euml cc:Igrave cd:Iacute
ce:Icirc cf:Iuml d0:ETH d1:Ntilde d2:Ograve d3:Oacute d4:Ocirc d5:Otilde d6:Ouml d7:times
d8:Oslash d9:Ugrave da:Uacute db:Ucirc dc:Uuml dd:Yacute de:THORN df:szlig e0:agrave
e1:aacute e2:acirc e3:atilde e4:auml e5:aring e6:aelig e7:ccedil e8:egrave e9:eacute
ea:ecirc eb:euml ec:igrave ed:iacute ee:icirc ef:iuml f0:eth f1:ntilde f2:ograve f3:oacute
f4:ocirc f5:otilde f6:ouml f7:div,divide f8:oslash f9:ugrave fa:uacute fb:ucirc fc:uuml
fd:yacute fe:thorn ff:yuml 152:OElig 153:oelig 160:Scaron 161:scaron 178:Yuml 192:fnof
2c6:circ 2dc:tilde 391:Alpha 392:Beta 393:Gamma 394:Delta 395:Epsilon 396:Zeta 397:Eta
398:Theta 399:Iota 39a:Kappa 39b:Lambda 39c:Mu 39d:Nu 39e:Xi 39f:Omicron 3a0:Pi 3a1:Rho
3a3:Sigma 3a4:Tau 3a5:Upsilon 3a6:Phi 3a7:Chi 3a8:Psi 3a9:Omega 3b1:alpha 3b2:beta 3b3:gamma
3b4:delta 3b5:epsilon 3b6:zeta 3b7:eta 3b8:theta 3b9:iota 3ba:kappa 3bb:lambda 3bc:mu 3bd:nu
3be:xi 3bf:omicron 3c0:pi 3c1:rho 3c2:sigmaf 3c3:sigma 3c4:tau 3c5:upsilon 3c6:phi 3c7:chi
3c8:psi 3c9:omega 3d1:thetasym 3d2:upsih 3d6:piv 2002:ensp 2003:emsp 2009:thinsp 200c:zwnj
200d:zwj 200e:lrm 200f:rlm 2013:ndash 2014:mdash 2018:lsquo 2019:rsquo 201a:sbquo 201c:ldquo
201d:rdquo 201e:bdquo 2020:dagger 2021:Dagger 2022:bull 2026:hellip 2030:permil 2032:prime
2033:Prime 2039:lsaquo 203a:rsaquo 203e:oline 2044:frasl 20ac:euro 2111:image 2118:weierp
211c:real 2122:trade 2135:alefsym 2190:larr 2191:uarr 2192:rarr 2193:darr 2194:harr
21b5:crarr 21d0:lArr 21d1:uArr 21d2:rArr 21d3:dArr 21d4:hArr 2200:forall 2202:part
2203:exist 2205:empty 2207:nabla 2208:isin 2209:notin 220b:ni 220f:prod 2211:sum 2212:minus
2217:lowast 221a:radic 221d:prop 221e:infin 2220:ang 2227:and 2228:or 2229:cap 222a:cup
222b:int 2234:there4 223c:sim 2245:cong 2248:asymp 2260:ne 2261:equiv 2264:le 2265:ge
2282:sub 2283:sup 2284:nsub 2286:sube 2287:supe 2295:oplus 2297:otimes 22a5:perp 22c5:sdot
2308:lceil 2309:rceil 230a:lfloor 230b:rfloor 2329:lang 232a:rang 25ca:loz 2660:spades
2663:clubs 2665:hearts 2666:diams
`;

/** The length of the longest name. */
export const MAX_NAME_CHARS = 8;

/** The hash of a name, computed without a string: start with 0 and add one unit after another. */
export function nameHash(hash: number, unit: number): number {
  return (Math.imul(hash, 131) + unit) | 0;
}

const CODE_POINTS: ReadonlyMap<number, number> = new Map(
  TABLE.trim()
    .split(/\s+/)
    .flatMap((entry) => {
      const [code = '', names = ''] = entry.split(':');
      return names.split(',').map((name) => {
        const hash = [...name].reduce((sum, one) => nameHash(sum, one.charCodeAt(0)), 0);
        return [hash, Number.parseInt(code, 16)] as const;
      });
    }),
);

/** The code point of the name with that hash; -1 if there is none. */
export function codePointOfName(hash: number): number {
  return CODE_POINTS.get(hash) ?? -1;
}
