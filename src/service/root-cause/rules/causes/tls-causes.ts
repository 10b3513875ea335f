import { shortenedToChars } from '../../../../runtime/text/quoted.ts';
import type { CauseRow, CodesOf } from '../cause.ts';
import { certificateNames, certificateText, isExpired, sinceText } from '../certificate.ts';
import { LINKS } from '../links.ts';
import type { Certificate, Subject } from '../subject.ts';
import { listText } from '../texts.ts';

const certificateOf = ({ tls }: Subject): Certificate | null => tls?.certificate ?? null;

/** Why the TLS handshake failed. */
export const TLS_CAUSES: Readonly<Record<CodesOf<'tls'>, CauseRow>> = {
  TLS_CERT_EXPIRED: {
    classification: 'CERTIFICATE_PROBLEM',
    cause(subject) {
      const certificate = certificateOf(subject);
      if (certificate === null) {
        return `A certificate that ${subject.target} showed is past its validity. Likely its renewal failed, or the server still has the old one loaded.`;
      }
      if (!isExpired(certificate, subject)) {
        return `A certificate of the chain that ${subject.target} sends is past its validity. The server's own (${certificateText(certificate)}) is valid until ${certificate.validTo}, so likely an intermediate certificate has expired.`;
      }
      const when = sinceText(certificate.validTo, subject) ?? '';
      return `The certificate of ${subject.target} (${certificateText(certificate)}) expired ${when}. Likely its renewal failed, or the server was not reloaded after it.`;
    },
    fix: () =>
      'Renew the certificate, with the intermediates that belong to it, install it on every server behind the name, and reload them. See why the automatic renewal did not do so: its log, its timer, and whether its challenge can still be answered.',
    links: [LINKS.validity, LINKS.acme],
  },
  TLS_CERT_NOT_YET_VALID: {
    classification: 'CERTIFICATE_PROBLEM',
    cause(subject) {
      const certificate = certificateOf(subject);
      const from = certificate === null ? null : sinceText(certificate.validFrom, subject);
      const when = from === null ? '' : ` Its validity begins ${from}.`;
      return `${subject.target} showed a certificate that is not valid yet.${when} Likely it was installed too early, or the clock of the agent's machine or of whoever issued it is wrong.`;
    },
    fix: ({ location }) =>
      `Make sure that the clock of the machine of the agent in ${location} is right. If it is, restore the previous certificate until the new one becomes valid.`,
    links: [LINKS.validity],
  },
  TLS_HOSTNAME_MISMATCH: {
    classification: 'CERTIFICATE_PROBLEM',
    cause(subject) {
      const certificate = certificateOf(subject);
      const names = certificate === null ? [] : certificateNames(certificate);
      const of =
        names.length > 0
          ? listText(names)
          : (certificate?.subject ?? 'other names, which are not known');
      return `The certificate that the server showed is for ${of}, not for ${subject.host}. Likely the server answers with the certificate of another site, the name leads to another server than it should, or the name was left out when the certificate was issued.`;
    },
    fix: ({ host }) =>
      `See with "openssl s_client -connect ${host} -servername ${host}" (and its port) which certificate is sent. Configure the one for ${host} on that server, or issue one that names ${host}. If the address is not yours, correct the DNS record.`,
    links: [LINKS.hostNames],
  },
  TLS_SELF_SIGNED: {
    classification: 'CERTIFICATE_PROBLEM',
    cause(subject) {
      const certificate = certificateOf(subject);
      if (certificate === null || certificate.subject === certificate.issuer) {
        return `${subject.target} showed a self-signed certificate${certificate === null ? '' : ` (${shortenedToChars(certificate.subject, 200)})`}, which nobody vouches for. Likely a default certificate is installed, or one of an authority of your own.`;
      }
      return `The chain of the certificate of ${subject.target} (${certificateText(certificate)}) ends in a self-signed certificate that the agent does not trust. Likely it is of an authority of your own, or a proxy on the way replaces certificates.`;
    },
    fix: ({ location }) =>
      `Install a certificate of a public authority; or, for an authority of your own, give its root to the agents in ${location} with NODE_EXTRA_CA_CERTS.`,
    links: [LINKS.path],
  },
  TLS_UNTRUSTED: {
    classification: 'CERTIFICATE_PROBLEM',
    cause(subject) {
      const certificate = certificateOf(subject);
      const issuer =
        certificate === null
          ? 'its issuer'
          : `its issuer, ${shortenedToChars(certificate.issuer, 200)},`;
      return `The certificate of ${subject.target} leads to no root that the agent trusts: ${issuer} or one above is unknown. Likely the server does not send the intermediate certificate, or the authority is a private one.`;
    },
    fix: ({ host, location }) =>
      `See with "openssl s_client -connect ${host} -servername ${host} -showcerts" (and its port) which certificates are sent, and configure the server with the full chain. For a private authority, give its root to the agents in ${location} with NODE_EXTRA_CA_CERTS.`,
    links: [LINKS.chain, LINKS.path],
  },
  TLS_CERT_INVALID: {
    classification: 'CERTIFICATE_PROBLEM',
    cause: ({ target }) =>
      `The certificate of ${target} fails verification for the reason that the agent's message names. Likely it was issued for another use, with a weak signature, or by an authority that may not issue it.`,
    fix: () => 'Get a new certificate with a standard server profile, and install it.',
    links: [LINKS.path],
  },
  TLS_PROTOCOL_UNSUPPORTED: {
    classification: 'TLS_FAILURE',
    cause: ({ target }) =>
      `${target} supports neither TLS 1.2 nor TLS 1.3, the secure versions. Likely the server is old, or configured only for old clients.`,
    fix: () =>
      'Enable TLS 1.2 and 1.3 on the server or the load balancer; update it if it does not support them.',
    links: [LINKS.oldTls],
  },
  TLS_CLIENT_CERT_REJECTED: {
    classification: 'CLIENT_CERTIFICATE_PROBLEM',
    cause: ({ target, host }) =>
      `${target} requires a client certificate, or refused the one that it got. Likely none is configured for ${host}, or the one that is has expired or comes from an authority that the server does not trust.`,
    fix: ({ host }) =>
      `Configure a valid client certificate for ${host} from an authority that the server trusts, or find out in the server's log why it refused the one it got.`,
    links: [LINKS.clientCertificate, LINKS.tlsAlerts],
  },
  TLS_HANDSHAKE_FAILED: {
    classification: 'TLS_FAILURE',
    cause: ({ target }) =>
      `The TLS handshake with ${target} failed for the reason that the agent's message names. Likely the two sides have no common cipher or key type, the server does not know the host name (SNI), or the port does not use TLS.`,
    fix: ({ host }) =>
      `Try "openssl s_client -connect ${host} -servername ${host}" (and its port) and check what the server offers. Correct its ciphers and its host names, or the port in the check.`,
    links: [LINKS.tlsAlerts],
  },
  STARTTLS_FAILED: {
    classification: 'TLS_FAILURE',
    cause: ({ target }) =>
      `The connection to ${target} was established, but the server refused to start TLS on it, for the reason that the agent's message names. Likely TLS is not enabled or the server cannot read its certificate, the port uses another protocol, or a device on the route removes the offer of TLS.`,
    fix: ({ host }) =>
      `Try "openssl s_client -connect ${host} -starttls" with the port and the protocol, from the network of the agent and on the server itself, and see whether the server offers TLS to both.`,
    links: [LINKS.tlsAlerts],
  },
  TLS_TIMEOUT: {
    classification: 'TIMEOUT',
    cause: ({ target }) =>
      `The TCP connection to ${target} was established, but the TLS handshake did not finish in time. Likely the server or the load balancer is overloaded, or a device on the route drops large packets.`,
    fix: () =>
      'Look at the load of the server that terminates TLS. If it is low, check whether large packets get through (path MTU): ping with 1400 bytes and without fragmentation.',
    links: [LINKS.tlsAlerts],
  },
  TLS_RESET: {
    classification: 'TLS_FAILURE',
    cause: ({ target }) =>
      `${target} accepted the connection and closed it during the TLS handshake. Likely the load balancer has no healthy server, the server does not know the host name (SNI), or a firewall that inspects TLS ended it.`,
    fix: () =>
      'Look at the log of the server or load balancer that terminates TLS at the time of the run, and check whether a firewall filters by host name.',
    links: [LINKS.tlsAlerts, LINKS.tcpReset],
  },
  CLIENT_CERT_INVALID: {
    classification: 'CHECK_CONFIGURATION',
    cause: ({ host }) =>
      `The client certificate or key that is configured for ${host} cannot be used, so the agent did not try. Nothing is known about the target itself.`,
    fix: ({ host }) =>
      `Replace the client certificate for ${host}: the certificate and its key must be PEM, belong together, and the passphrase must be right.`,
    links: [LINKS.clientCertificate],
  },
};
