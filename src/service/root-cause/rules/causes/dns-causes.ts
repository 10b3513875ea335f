import type { CauseRow, CodesOf } from '../cause.ts';
import { LINKS } from '../links.ts';
import { otherFamily } from '../subject.ts';

/** Why a name could not be resolved. */
export const DNS_CAUSES: Readonly<Record<CodesOf<'dns'>, CauseRow>> = {
  DNS_NXDOMAIN: {
    classification: 'DNS_FAILURE',
    cause: ({ host, resolver }) =>
      `The name ${host} does not exist, according to ${resolver}. Likely its record was removed or renamed, the domain has expired, or the check has the name misspelt.`,
    fix: ({ host }) =>
      `Look the name up with "dig ${host}" and compare that with the zone at the DNS provider. Put the record back, renew the domain, or correct the name in the check.`,
    links: [LINKS.dnsNothing, LINKS.dnsErrors],
  },
  DNS_NO_ADDRESS: {
    classification: 'DNS_FAILURE',
    cause: ({ host, ipFamily, recordType }) =>
      `The name ${host} exists, but has no ${ipFamily} address: there is no ${recordType} record. Likely the record was removed, or the host has only ${otherFamily(ipFamily)} addresses.`,
    fix: ({ host, ipFamily, recordType }) =>
      `Add a ${recordType} record for ${host}, or set the check's ipFamily to ${otherFamily(ipFamily)} if the host need not be reachable by ${ipFamily}.`,
    links: [LINKS.ipv6, LINKS.dnsErrors],
  },
  DNS_SERVFAIL: {
    classification: 'DNS_FAILURE',
    cause: ({ host, resolver }) =>
      `Asked for ${host}, ${resolver} answered SERVFAIL: they could not find the answer themselves. Likely the name servers of the domain do not answer, or the signatures of the zone (DNSSEC) do not verify.`,
    fix: ({ host }) =>
      `Compare "dig ${host}" with "dig +cd ${host}": if only the second answers, DNSSEC is broken, so sign the zone anew or correct the DS record at the registrar. Else see that the name servers that "dig NS" names for the domain answer.`,
    links: [LINKS.dnssec, LINKS.dnsErrors],
  },
  DNS_REFUSED: {
    classification: 'DNS_FAILURE',
    cause: ({ host, resolver, location }) =>
      `Asked for ${host}, ${resolver} answered REFUSED. Likely an access list does not allow queries from the agent in ${location}, or the server is not authoritative for the domain and does not resolve names of others.`,
    fix: ({ location }) =>
      `Allow queries from the addresses of the agent in ${location} at that server, or configure another name server in the check or on the agent's machine.`,
    links: [LINKS.dnsErrors],
  },
  DNS_ERROR: {
    classification: 'DNS_FAILURE',
    cause: ({ host, resolver }) =>
      `Asked for ${host}, ${resolver} answered with an error, or the name is not a valid DNS name; the agent's message says which. Likely the server is faulty or misconfigured for the domain, or the name is misspelt.`,
    fix: ({ host }) =>
      `Send the same query with "dig ${host}" from the agent's machine, and look at the log of the name server.`,
    links: [LINKS.dnsErrors, LINKS.dnsMessage],
  },
  DNS_TIMEOUT: {
    classification: 'DNS_FAILURE',
    cause: ({ host, resolver }) =>
      `Asked for ${host}, ${resolver} did not answer in time. Likely they are down or overloaded, or a firewall drops DNS on the way.`,
    fix: ({ host, location }) =>
      `Run "dig ${host}" on the machine of the agent in ${location}. If that gets no answer either, see that the name servers run and that UDP and TCP port 53 are open to them.`,
    links: [LINKS.dnsTcp],
  },
  DNS_UNREACHABLE: {
    classification: 'DNS_FAILURE',
    cause: ({ host, resolver }) =>
      `To look up ${host}, ${resolver} could not be reached: there is no route to them, or nothing listens there. Likely the address of the name server is wrong, or the agent's network has changed.`,
    fix: ({ location }) =>
      `Check which name servers the machine of the agent in ${location} uses (/etc/resolv.conf), or which one the check names, and whether they can be reached from there.`,
    links: [LINKS.unreachable],
  },
  DNS_MALFORMED: {
    classification: 'DNS_FAILURE',
    cause: ({ host, resolver }) =>
      `Asked for ${host}, ${resolver} sent bytes that are not a DNS message. Likely something other than a name server listens there, or a device on the route changes the answers.`,
    fix: () =>
      'Check what listens on the port of the name server, and whether a firewall or proxy on the route rewrites DNS.',
    links: [LINKS.dnsMessage],
  },
  DNS_HTTP_STATUS: {
    classification: 'DNS_FAILURE',
    cause: ({ host, resolver }) =>
      `Asked for ${host} over HTTPS, ${resolver} answered with an HTTP status that is not a success. Likely the path is wrong, or the DNS server behind it is down.`,
    fix: () =>
      "Compare the check's dohPath and serverName with the documentation of the server, and look at its log.",
    links: [LINKS.dnsErrors],
  },
  DNS_SERIALS_DIFFER: {
    classification: 'DNS_FAILURE',
    cause: ({ host }) =>
      `The name servers of ${host} do not have the same version of the zone, or one of them does not answer; the agent's message contains the serial of each. Likely a zone transfer fails, or a change has not propagated yet.`,
    fix: ({ host }) =>
      `Query each name server with "dig @SERVER ${host} SOA", and look for refused or failed transfers (NOTIFY, access lists, TSIG keys) in the logs of those that are behind.`,
    links: [LINKS.dnsErrors],
  },
};

const UNNAMED: CauseRow = {
  classification: 'DNS_FAILURE',
  cause: ({ host, resolver }, { result }) =>
    `Asked for ${host}, ${resolver} answered ${result.dnsCheckResult?.response?.responseCode ?? 'an error'}. The operator of the server can say what that means for the name.`,
  fix: ({ host }) =>
    `Send the same query with "dig ${host}" and look at the log of the name server.`,
  links: [LINKS.dnsErrors, LINKS.dnsMessage],
};

/** The cause of a response code. In DNS checks every answer counts as a response. */
export function causeOfResponseCode(responseCode: string): CauseRow {
  switch (responseCode) {
    case 'NXDOMAIN':
      return DNS_CAUSES.DNS_NXDOMAIN;
    case 'SERVFAIL':
      return DNS_CAUSES.DNS_SERVFAIL;
    case 'REFUSED':
      return DNS_CAUSES.DNS_REFUSED;
    default:
      return UNNAMED;
  }
}
