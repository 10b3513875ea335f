import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { makeTempFolder } from '../../support/process/temp-folder.ts';
import { createAuthority } from '../../support/servers/certificates.ts';
import { type Driver, startDriver } from '../driver.ts';
import { onCore } from './cores.ts';

const DEVICE = 'times0';
const OWN_ADDRESS = '10.77.0.1';
const SECURE_ADDRESS = '10.77.0.2';

/** When the packets of a TCP connection, or of a UDP query, were on the wire. Epoch milliseconds. */
export interface Flow {
  /** `address:port` of its server. */
  readonly server: string;
  /** The SYN, or the query. */
  readonly startMs: number;
  /** The SYN-ACK, or the response; null if there was none. */
  readonly answerMs: number | null;
  /** Data sent to the server, and data received. */
  readonly outMs: readonly number[];
  readonly inMs: readonly number[];
}

interface Ports {
  readonly plain: number;
  readonly secure: readonly number[];
  readonly dns: number;
}

export interface ServerAddress {
  readonly hostname: string;
  readonly port: number;
}

/** Servers behind a wire that reports when each packet passed. Each number has its own address and port. */
export interface Wire {
  /** For the certificates of the secure servers. */
  readonly caFile: string;
  plainServer(n: number): ServerAddress;
  secureServer(n: number): ServerAddress;
  nameServer(n: number): ServerAddress;
  /**
   * The flows since the previous call.
   *
   * @throws Error if the wire missed a packet
   */
  flows(): Promise<readonly Flow[]>;
}

export interface WireOptions {
  readonly securePlaces: number;
  /** Where the wire and the servers run. */
  readonly core: number;
  readonly signal: AbortSignal;
}

/** In the network of this process, where it must be allowed to make a device. */
export async function withWire<Value>(
  { securePlaces, core, signal }: WireOptions,
  work: (wire: Wire) => Promise<Value>,
): Promise<Value> {
  const folder = makeTempFolder();
  const drivers: Driver[] = [];
  const start = async (name: string, options: object, prefix: readonly string[]) => {
    const driver = await startDriver(name, options, signal, [...onCore(core), ...prefix]);
    drivers.push(driver);
    return driver;
  };
  try {
    const authority = await createAuthority('Bench Root');
    const caFile = folder.file('ca.pem');
    writeFileSync(caFile, authority.cert);
    const intermediate = await authority.intermediate();
    const identity = await intermediate.issue({ addresses: [SECURE_ADDRESS] });

    const wire = await start('times-wire', { device: DEVICE }, ['chrt', '--fifo', '50']);
    execFileSync('ip', ['link', 'set', DEVICE, 'up', 'txqueuelen', '10000']);
    execFileSync('ip', ['address', 'add', `${OWN_ADDRESS}/16`, 'dev', DEVICE]);
    const options = { address: OWN_ADDRESS, securePorts: securePlaces, ...identity };
    const targets = await start('times-targets', options, []);
    const ports = JSON.parse(targets.firstLine) as Ports;
    await wire.ask({ ports: [ports.plain, ports.dns, ...ports.secure] });

    const addressOf = (n: number): string => `10.77.${1 + (n >> 8)}.${n & 255}`;
    return await work({
      caFile,
      plainServer: (n) => ({ hostname: addressOf(n), port: ports.plain }),
      nameServer: (n) => ({ hostname: addressOf(n), port: ports.dns }),
      secureServer: (n) => ({ hostname: SECURE_ADDRESS, port: ports.secure[n] ?? Number.NaN }),
      flows: () => flowsOf(wire),
    });
  } finally {
    await Promise.all(drivers.map((driver) => driver.stop()));
    folder.remove();
  }
}

type FlowRow = readonly [string, number, number | null, readonly number[], readonly number[]];

async function flowsOf(wire: Driver): Promise<readonly Flow[]> {
  const command = { flows: true };
  const { flows, lost } = await wire.ask<{ flows: readonly FlowRow[]; lost: number }>(command);
  if (lost > 0) throw new Error(`the wire missed ${lost} packets`);
  return flows.map(([server, startMs, answerMs, outMs, inMs]) => ({
    ...{ server, startMs, answerMs, outMs, inMs },
  }));
}
