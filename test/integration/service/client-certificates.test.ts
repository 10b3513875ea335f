import { clientCertificatesSuite } from '../../support/service-suites/client-certificates-suite.ts';

clientCertificatesSuite('pglite');
