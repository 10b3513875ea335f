/** The commands of the documents that start an agent of a location, with address and key filled in. */

/** From docker/README.md, "An agent", without the network of its example. */
const DOCKER = `docker run -d --name vedette-agent --restart unless-stopped --stop-timeout 330 \\
  --read-only --cap-drop ALL --security-opt no-new-privileges \\
  --sysctl net.ipv4.ping_group_range="0 2147483647" \\
  -v vedette-agent:/data -p 127.0.0.1:8081:8081 -e SERVICE_URL -e API_KEY vedette-agent`;

/** From docker/README.md, "Agents". */
const SECRET = `kubectl create namespace vedette
kubectl label namespace vedette pod-security.kubernetes.io/enforce=restricted
printf %s "$LOCATION_KEY" | kubectl -n vedette create secret generic vedette-agent-key \\
  --from-file=API_KEY=/dev/stdin`;
const KUSTOMIZE = `mkdir -p deploy/agents
cat > deploy/agents/kustomization.yaml <<END
namespace: vedette
resources:
  - ../../docker/kubernetes/base
images:
  - name: vedette-agent
    newName: registry.example.com/vedette-agent
    newTag: 0.1.0
configMapGenerator:
  - name: vedette-agent
    behavior: merge
    literals:
      - SERVICE_URL=$SERVICE_URL
END
kubectl apply -k deploy/agents
kubectl -n vedette rollout status deployment/vedette-agent`;

/** From docker/README.md, "Helm". */
const HELM = `helm upgrade --install vedette docker/helm/vedette --namespace vedette \\
  --set agent.serviceUrl="$SERVICE_URL" \\
  --set agent.image.repository=registry.example.com/vedette-agent`;

/** From src/agent/README.md, "With systemd". */
const SYSTEMD = `echo "SERVICE_URL=$SERVICE_URL" | sudo install -m 600 /dev/stdin /etc/vedette-agent.env
echo "$API_KEY" | sudo install -m 600 /dev/stdin /etc/vedette-agent.key
sudo install -m 644 /opt/vedette/docker/systemd/vedette-agent.service /etc/systemd/system/
sudo systemctl daemon-reload
sudo systemctl enable --now vedette-agent`;

/** From README.md, "A service and its agents". */
const NODE = 'DATA_DIR=./agent-data node dist/cli/main.js agent';

export const STARTS = ['docker', 'kubernetes', 'helm', 'systemd', 'node'] as const;
export type Start = (typeof STARTS)[number];

interface StartText {
  readonly label: string;
  /** The requirements. */
  readonly needs: string;
  readonly keyVariable: 'API_KEY' | 'LOCATION_KEY';
  readonly command: string;
  /** Whether 127.0.0.1 of the agent is not this machine, as in a container. */
  readonly isElsewhere: boolean;
}

export const START_TEXTS: Readonly<Record<Start, StartText>> = {
  docker: {
    label: 'Docker',
    needs:
      'Needs the image vedette-agent: docker build -f docker/agent.Dockerfile -t vedette-agent .',
    keyVariable: 'API_KEY',
    command: DOCKER,
    isElsewhere: true,
  },
  kubernetes: {
    label: 'Kubernetes',
    needs:
      'Run it in a copy of the repository, with the name of your registry instead of registry.example.com.',
    keyVariable: 'LOCATION_KEY',
    command: `${SECRET}\n\n${KUSTOMIZE}`,
    isElsewhere: true,
  },
  helm: {
    label: 'Helm',
    needs:
      'Run it in a copy of the repository, with the name of your registry instead of registry.example.com.',
    keyVariable: 'LOCATION_KEY',
    command: `${SECRET}\n\n${HELM}`,
    isElsewhere: true,
  },
  systemd: {
    label: 'systemd',
    needs:
      'Needs Node 20.19 or later in /usr/bin, and a built copy of the repository in /opt/vedette.',
    keyVariable: 'API_KEY',
    command: SYSTEMD,
    isElsewhere: false,
  },
  node: {
    label: 'Node',
    needs: 'Run it in a built copy of the repository. It ends with the terminal.',
    keyVariable: 'API_KEY',
    command: NODE,
    isElsewhere: false,
  },
};

/** The commands to paste into a shell. */
export function startLines(
  start: Start,
  { serviceUrl, key }: { readonly serviceUrl: string; readonly key: string },
): string {
  const { keyVariable, command } = START_TEXTS[start];
  return `export SERVICE_URL=${serviceUrl}\nexport ${keyVariable}=${key}\n${command}`;
}

/** Containers and other machines cannot reach such an address. */
export function isLoopback(serviceUrl: string): boolean {
  const { hostname } = new URL(serviceUrl);
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname) || hostname.endsWith('.localhost');
}
