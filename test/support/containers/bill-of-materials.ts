/** The fields of a bill of materials (CycloneDX 1.6) that the tests read. */
export interface BillOfMaterials {
  readonly bomFormat: string;
  readonly specVersion: string;
  readonly serialNumber: string;
  readonly metadata: { readonly component: { readonly 'bom-ref': string } };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly purl?: string;
  readonly licenses?: readonly {
    readonly license?: { readonly id?: string };
    readonly expression?: string;
  }[];
}

/** Faults of the bill that would confuse a scanner. */
export function problemsOf(bill: BillOfMaterials): readonly string[] {
  const problems: string[] = [];
  if (bill.bomFormat !== 'CycloneDX' || bill.specVersion !== '1.6') problems.push('another format');
  if (!/^urn:uuid:[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/.test(bill.serialNumber))
    problems.push(`serial number ${bill.serialNumber}`);
  const refs = bill.components.map((component) => component['bom-ref']);
  const known = new Set([...refs, bill.metadata.component['bom-ref']]);
  if (known.size !== refs.length + 1) problems.push('a component twice');
  for (const { name, version, purl, licenses: [licence] = [] } of bill.components) {
    if (!purl?.endsWith(`@${version}`)) problems.push(`${name}: purl ${purl}`);
    if ((licence?.license?.id ?? licence?.expression) === undefined)
      problems.push(`${name}: no licence`);
  }
  for (const { ref, dependsOn } of bill.dependencies) {
    for (const each of [ref, ...dependsOn])
      if (!known.has(each)) problems.push(`${ref}: unknown ${each}`);
  }
  return problems;
}
