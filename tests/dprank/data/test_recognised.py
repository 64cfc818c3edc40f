"""What `check` takes a file for: every kind by its flags, two where two fit, and the flags are taken as they stand."""

import shlex

import pytest
from checks import each
from kinds_of_files import FORMATS, cat, each_column, one_cell, zeros_and_ones

from dprank.cli.path import said
from dprank.data.recognised import recognised

#: A file of each kind, small, and the flags that are told.
KINDS = {
    "a column a place": ("voter,Rank1,Rank2,Rank3\nA1,Kelp,Moss,Fern\nA2,Moss,Kelp,\nA3,Kelp,Fern,Moss\n",
                         ["--ranks 'Rank1,Rank2,Rank3' --person 'voter'"]),
    "LimeSurvey": ("id,Rank [Ranking 1],Rank [Ranking 2]\n1,Kelp,Moss\n2,Moss,Kelp\n3,Moss,Kelp\n",
                   ["--ranks 'Rank [Ranking 1],Rank [Ranking 2]' --person 'id'"]),
    "Microsoft Forms": ("ID,vote\n1,Attic;Cellar;Porch;\n2,Cellar;Attic;Porch;\n",
                        ["--orders 'vote' --between ';' --person 'ID'", "--basket 'vote' --between ';' --person 'ID'"]),
    "orders": ("id,vote\n1,Ann > Bo > Cy\n2,Cy > Ann\n", ["--orders 'vote' --person 'id'"]),
    "Crowd-Kit": ("worker,left,right,label\nw1,tea,cocoa,tea\nw2,cocoa,tea,tea\nw5,mate,tea,tea\nw6,mate,cocoa,cocoa\n",
                  ["--comparisons 'left,right,label' --map names --person 'worker'"]),
    "winner and loser": ("winner_name,loser_name,score\nA,B,6-1\nB,C,6-2\nA,C,6-3\n",
                         ["--comparisons 'winner_name,loser_name,winner_name' --map names"]),
    "arena": ("model_a,model_b,winner\nm1,m2,model_a\nm2,m1,model_b\nm1,m3,tie\nm3,m2,tie (bothbad)\nm2,m3,model_a\n",
              ["--comparisons 'model_a,model_b,winner' --map 'model_a=1,model_b=0,tie=0.5,tie (bothbad)=0.5'"]),
    "codes": ("Observer,Condition_1,Condition_2,Selection\n1,tea,cocoa,1\n2,tea,cocoa,2\n5,cocoa,mate,1\n",
              ["--comparisons 'Condition_1,Condition_2,Selection' --person 'Observer', and --map"]),
    "first and second": ("first,second,outcome\ntea,mate,1\nmate,tea,0\ntea,cocoa,0.5\n",
                         ["--comparisons 'first,second,outcome', and --map"]),
    "home and away": ("date,home_team,away_team,home_score,away_score\n2020-01-01,A,B,1,0\n2020-01-02,B,C,2,2\n"
                      "2020-01-03,C,A,0,3\n",
                      ["--points 'home_team,away_team,home_score,away_score'"]),
    "pairs": ("id,Tea vs Cocoa,Q3: Tea vs Mate\n1,Tea,Mate\n2,Tea,Mate\n", ["--pairs all --map names --person 'id'"]),
    "places": ("who,A,B,C\n1,1,2,3\n2,3,1,2\n3,2,1,3\n", ["--wide --items 'A,B,C' --person 'who'"]),
    "CIVS": ("Attic,Cellar,Porch\n1,2,-\n2,1,3\n-,-,1\n3,1,2\n", ["--wide --items 'Attic,Cellar,Porch'"]),
    "scores": ("id,oak,elm,fir\n1,10,7,1\n2,9,9,2\n3,8,8,8\n4,9,9,9\n",
               ["--wide --items 'oak,elm,fir' --ballots tied --person 'id', and --best high if more is better"]),
    "a row an item": ("person,item,place\n1,A,1\n1,B,2\n2,B,1\n2,A,2\n", ["--long 'item,place' --person 'person'"]),
    "a row for each": ("patient,diagnosis\n1,flu\n1,gout\n2,flu\n3,gout\n", ["--item 'diagnosis' --person 'patient'"]),
    "marks": (zeros_and_ones(), ["--marked --items 'Amy Lee,Bob,Chuck,Dó' --person 'id'"]),
    "baskets": (one_cell("|"),
                ["--orders 'things' --between '|' --person 'id'", "--basket 'things' --between '|' --person 'id'"]),
    "diagnoses": (each_column(), ["--each 'DX1,DX2,DX3' --person 'id'", "--ranks 'DX1,DX2,DX3' --person 'id'"]),
    "lines of orders": ("27: Ann > Bo = Cy\n3: Bo\n", ["--form abif"]),
    **{name: (FORMATS[name][0](), [f"--form {name}"]) for name in FORMATS},
}  # fmt: skip


def told(folder, text, name="a.dat.csv"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path, [it.flags for it in recognised(path)]


@each("kind", list(KINDS))
def test_each_kind_is_known_by_its_flags(tmp_path, kind):
    text, flags = KINDS[kind]
    assert told(tmp_path, text)[1] == flags


@each("text", ["", "\n", "x\n", "a,b\n", "\0\0", '"', "who\nann\nbo\n", "text\nsome words\nother words\n"])
def test_what_is_none_is_taken_for_none(tmp_path, text):
    assert told(tmp_path, text)[1] == []


SAID = [(f"a{suffix}", write()) for write, suffix, _ in FORMATS.values() if suffix not in (".csv", ".txt")]


@each("name, text", [("a.cat", cat()), *SAID])
def test_a_name_says_it_without_a_flag(tmp_path, name, text):
    assert told(tmp_path, text, name)[1] == [""]


@each(
    "kind", ["a column a place", "Crowd-Kit", "winner and loser", "arena", "diagnoses", "marks", "scottish", "debian"]
)
@pytest.mark.slow
def test_the_flags_are_taken_as_they_stand(tmp_path, kind):
    """What `check` says without a flag is what it takes with one; nobody else hears of it."""
    text, flags = KINDS[kind]
    path = told(tmp_path, text)[0]
    first = said("check", path)
    assert first.code != 0, "no flag says what a row is"
    assert "say what a row is" in first.error
    assert flags[0] not in first.error
    assert first.out.startswith("[not for publication")
    assert all(it in first.out for it in flags)
    items = {"a column a place": "Kelp,Moss,Fern", "arena": "m1,m2,m3", "winner and loser": "A,B,C"}
    items |= {"Crowd-Kit": "tea,cocoa,mate"}
    words = shlex.split(flags[0])
    words += [] if "--items" in words else ["--items", items.get(kind, "Amy Lee,Bob,Chuck,Dó")]
    ballots = "--ranks" in words or "--form" in words
    done = said("check", path, *words, *(["--ballots", "partial", "--unranked", "apart"] if ballots else []))
    assert done.code == 0, done
    line = next(it for it in done.out.splitlines() if it.startswith("taken for: "))
    assert words[0] in line
    assert "looks like" not in line


def test_another_form_than_was_said_is_told(tmp_path):
    path = told(tmp_path, KINDS["a column a place"][0])[0]
    done = said("check", path, "--item", "Rank1", "--person", "voter", "--items", "Kelp,Moss,Fern")
    assert "taken for: tallies with a row for each person and item (--item); it looks like" in done.out
    assert "--ranks 'Rank1,Rank2,Rank3'" in done.out
