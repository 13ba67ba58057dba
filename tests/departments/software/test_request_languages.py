"""Requests in Spanish, French, Italian and Portuguese: what is certain in them is read as in English, and no more."""

from __future__ import annotations

import pytest

from chatdev.departments.software.cases.case import Case, Start
from chatdev.departments.software.cases.extract import read_request
from chatdev.departments.software.trial.plan import any_command
from tests.departments.software.conftest import Use

RUN = "`python main.py 3 5 4`"
READ = {
    "Spanish": f"Al ejecutar {RUN} se muestra `6` en pantalla.",
    "Spanish, a table": "| Comando | Resultado |\n|---|---|\n| python main.py 3 5 4 | 6 |\n",
    "Spanish, labels": "Comando:\npython main.py 3 5 4\n\nSalida esperada:\n6\n",
    "Spanish, blocks": "Por ejemplo\n\n    python main.py 3 5 4\n\ndebe mostrar\n\n    6\n",
    "Spanish, no marks": "Dos jarras. Con python main.py 3 5 4 el programa imprime 6.",
    "French": f"La commande {RUN} affiche « 6 ».",
    "French, labels": "Commande : python main.py 3 5 4\nSortie : 6\n",
    "French, blocks": "Par exemple\n\n    python main.py 3 5 4\n\naffiche\n\n    6\n",
    "French, a table": "| Commande | Affichage |\n|---|---|\n| python main.py 3 5 4 | 6 |\n",
    "French, two sentences": f"On lance {RUN}. Le programme affiche `6`.",
    "Italian": f"Il comando {RUN} stampa `6`.",
    "Italian, blocks": "Eseguendo\n\n    python main.py 3 5 4\n\nviene stampato\n\n    6\n",
    "Italian, labels": "Comando:\npython main.py 3 5 4\n\nRisultato:\n6\n",
    "Italian, a table": "| Comando | Uscita |\n|---|---|\n| python main.py 3 5 4 | 6 |\n",
    "Portuguese": f"Com {RUN} o programa mostra `6`.",
    "Portuguese, labels": "Comando:\npython main.py 3 5 4\n\nSaída esperada:\n6\n",
    "Portuguese, blocks": "Ao executar\n\n    python main.py 3 5 4\n\ndeve aparecer na tela\n\n    6\n",
    "Portuguese, a table": "| Comando | Saída |\n|---|---|\n| python main.py 3 5 4 | 6 |\n",
}


@pytest.mark.parametrize("request_text", READ.values(), ids=READ)
def test_one_example_is_read(request_text: str) -> None:
    [case] = read_request(request_text, any_command()).cases
    assert case == Case("request", (Start(("3", "5", "4"), prints="6"),))


TYPED = {
    "Spanish": "Lee de la entrada estándar.\n\nEntrada:\n3\n4\n\nSalida:\n7\n",
    "French": "Il lit l'entrée standard.\n\nExemple d'entrée :\n```\n3\n4\n```\n\nSortie attendue :\n```\n7\n```\n",
    "Italian": "Legge da tastiera.\n\nInput di esempio:\n3\n4\n\nOutput atteso:\n7\n",
    "Portuguese": "Lê da entrada padrão.\n\nExemplo de entrada:\n3\n4\n\nExemplo de saída:\n7\n",
}


@pytest.mark.parametrize("request_text", TYPED.values(), ids=TYPED)
def test_what_is_typed_is_read(request_text: str) -> None:
    [case] = read_request(request_text, any_command()).cases
    assert case == Case("request", (Start(stdin="3\n4\n", prints="7"),))


UNCERTAIN = {
    "Spanish, a condition": f"{RUN} imprime `6` si las jarras están vacías.",
    "Spanish, a choice": f"{RUN} imprime `6` o `7`.",
    "Spanish, another case": f"Se llama con {RUN}. Cuando hay negativos, imprime `mal`.",
    "Spanish, chance": f"{RUN} imprime `6`, un número aleatorio.",
    "Spanish, something like it": f"{RUN} imprime algo como `6`.",
    "Spanish, a description": "| Comando | Salida |\n|---|---|\n| python main.py lista | todas las tareas |\n",
    "Spanish, denied": "Salía esto:\n\n    $ python main.py 3\n    10\n\npero debería ser 9.",
    "Spanish, a subcommand": "Con python main.py muestra se imprime 6.",
    "Spanish, what is typed": "Lee de la entrada estándar. Al ejecutar `python main.py`, escribe `hola` y pulsa intro.",
    "French, what is given": "Avec `python main.py` on donne `hola`.",
    "Spanish, a date": f"{RUN} imprime `hoy es 3 de marzo de 2024`.",
    "French, a condition": f"{RUN} affiche `6` lorsque tout est vide.",
    "French, negated": f"{RUN} n'affiche pas `6`.",
    "French, a choice": f"{RUN} affiche `6` ou `7`.",
    "French, wrong": "C'est faux :\n\npython main.py 3\n10\n",
    "Italian, a condition": f"{RUN} stampa `6` se i secchi sono vuoti.",
    "Italian, negated": f"{RUN} non stampa `6`.",
    "Italian, each": f"{RUN} stampa `6` per ogni riga.",
    "Italian, a description": "| Comando | Risultato |\n|---|---|\n| python main.py lista | tutte le note |\n",
    "Portuguese, a condition": f"{RUN} imprime `6` se tudo estiver vazio.",
    "Portuguese, negated": f"{RUN} não imprime `6`.",
    "Portuguese, a choice": f"{RUN} imprime `6` ou `7`.",
    "Portuguese, a description": "| Comando | Saída |\n|---|---|\n| python main.py listar | lista de tarefas |\n",
    "Portuguese, a dialogue": f"Com {RUN} aparece `Litros:` e, depois de digitar `4`, aparece `6`.",
    "Portuguese, perhaps": f"{RUN} talvez mostre `6`.",
}


@pytest.mark.parametrize("request_text", UNCERTAIN.values(), ids=UNCERTAIN)
def test_what_is_not_certain_makes_no_case(request_text: str) -> None:
    assert read_request(request_text, any_command()).cases == ()


@pytest.mark.parametrize("words", [
    "El programa apunta los gastos.", "Le programme tient un compte.", "Il programma annota le spese.",
    "O programa guarda as despesas."])
def test_what_another_block_has_added_may_be_there(words: str) -> None:
    request = f"{words}\n\n```\n$ python main.py pan 5\n5\n```\n\nSí.\n\n```\n$ python main.py pan 7\n12\n```"
    assert [start.prints for case in read_request(request, any_command()).cases for start in case.starts] == ["5"]


NOTES = "$ cat notas.txt\nuno\ndos\n$ python main.py notas.txt\n2\n\n"
REFUSED = {
    "Spanish, arguments": (
        "`python main.py 70 1.75` imprime `22.9`. Si falta algún argumento, imprime `faltan datos` y el estado de "
        "salida es 2.", Start((), prints="faltan datos", status=2)),
    "Spanish, a file": (
        NOTES + "Si el archivo no existe, imprime `no hay notas` y termina con código 1.",
        Start(("zq7.txt",), prints="no hay notas", status=1)),
    "Spanish, no number": (
        "`python main.py 7` imprime `impar`. Si no es un número, muestra `¿número?` y devuelve el código de error 3.",
        Start(("zq7",), prints="¿número?", status=3)),
    "French, a word": (
        "`python main.py ours` affiche `ourson`. Pour tout autre animal, afficher « aucune idée », code de sortie 1.",
        Start(("zq7",), prints="aucune idée", status=1)),
    "French, arguments": (
        "« python main.py radar » affiche « oui ». Sans argument, il affiche « quel mot ? » et renvoie le code de "
        "retour 1.", Start((), prints="quel mot ?", status=1)),
    "French, a file": (
        NOTES + "Si notas.txt n’existe pas, le programme écrit `rien` et le code de sortie vaut 2.",
        Start(("notas.txt",), prints="rien", status=2)),
    "Italian, zero": (
        "`python main.py 12` stampa `1.2`. Se il numero è zero stampa `troppo poco` ed esce con codice 1.",
        Start(("0",), prints="troppo poco", status=1)),
    "Italian, no number": (
        "`python main.py 7` stampa `dispari`. Se non è un numero, stampa `quale?`, codice di uscita 2.",
        Start(("zq7",), prints="quale?", status=2)),
    "Portuguese, a word": (
        "`python main.py 10 euro` mostra `60`. Para uma moeda desconhecida, mostra `não sei` e termina com código de "
        "saída 2.", Start(("10", "zq7"), prints="não sei", status=2)),
    "Portuguese, a file": (
        NOTES + "Se o ficheiro não existir, escreve `sem notas` e sai com o código 2.",
        Start(("zq7.txt",), prints="sem notas", status=2)),
    "English, arguments": (
        "`python main.py bear` prints `cub`. Without arguments it prints `which animal?` and ends with exit status 2.",
        Start((), prints="which animal?", status=2)),
    "German, arguments": (
        "`python main.py Bär` gibt `Junges` aus. Fehlt ein Argument, gibt es `welches Tier?` aus, Status 2.",
        Start((), prints="welches Tier?", status=2)),
}


@pytest.mark.parametrize(("request_text", "start"), REFUSED.values(), ids=REFUSED)
def test_what_is_certainly_refused_makes_a_case(request_text: str, start: Start) -> None:
    refusal = read_request(request_text, any_command()).refusal
    assert refusal
    assert refusal.starts == (start,)


@pytest.mark.parametrize("request_text", [
    "`python main.py 7` imprime `primo`. Si no es un número primo, imprime `nada` y termina con código 1.",
    "`python main.py 7` affiche `oui`. Si ce n'est pas un nombre premier, il affiche `rien`, code de sortie 1.",
    "`python main.py 7` stampa `sì`. Se la somma è zero stampa `niente` ed esce con codice 1.",
    "`python main.py 7` mostra `sim`. Com outro número de argumentos, mostra `erro` e sai com código 1.",
    "`python main.py oso` imprime `osezno`. Para cualquier otro animal imprime `nada` en la salida de error, estado 1.",
    "`python main.py add milk` prints `1`. `add` without an argument prints `what?` and exits with status 2.",
    "`python main.py add milk` prints `1`. Without an argument it prints `what?` and exits with status 2.",
    "`python main.py bear` prints `cub`. For an unknown animal such as `zebu` it prints an error, exit status 2.",
    "`python main.py oso` imprime `osezno`. Un animal desconocido, por ejemplo `cebú`, da el código de salida 2.",
    "`python main.py oso` imprime `osezno`. En cualquier otro caso imprime `nada`, código de salida 2.",
    "`python main.py bear` prints `cub`. It prints an error if `zebu` is an unknown animal, exit status 2.",
    "`python main.py sum 3` prints `3`. Each sale with code 5 prints `sold`.",
])
def test_what_may_be_another_input_makes_none(request_text: str) -> None:
    assert read_request(request_text, any_command()).refusal is None


BODY_MASS = REFUSED["Spanish, arguments"][0]
RIGHT = """import sys
if len(sys.argv) < 3:
    print("faltan datos")
    sys.exit(2)
print(round(float(sys.argv[1]) / float(sys.argv[2]) ** 2, 1))
"""


@pytest.mark.parametrize(("program", "held"), [
    (RIGHT, 2), (RIGHT.replace('datos"', 'datos 2"'), 1), (RIGHT.replace("sys.exit(2)", "sys.exit(1)"), 1),
    (RIGHT.replace("** 2", "** 3"), 0)])
def test_a_refusal_in_spanish_is_tried(use: Use, program: str, held: int) -> None:
    verdict = use(program, BODY_MASS)
    assert (verdict.passed, verdict.examples) == (held == 2, (held, 2))
